/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/device_tags.h"
#include "blocks/pdu.h"
#include "radio/devices/soapy_device.h"

#include <SoapySDR/Errors.hpp>
#include <boost/thread/thread.hpp>
#include <gnuradio/io_signature.h>
#include <hf/soapy_source.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

namespace gr::hf {
namespace {

using steady = std::chrono::steady_clock;

constexpr long wait_us = 100000;
// A device that gives nothing for this long is lost, s.
constexpr double stalled_s = 4;
constexpr double again_s = 1; // between two attempts to open it again

class soapy_source_impl : public soapy_source
{
public:
    explicit soapy_source_impl(const soapy_settings& settings)
        : gr::sync_block("hf_soapy_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_device(SOAPY_SDR_RX, settings)
    {
        message_port_register_out(pmt::mp("events"));
    }

    bool timed() const override { return d_device.timed(); }

    void set_frequency(double hz) override { d_retuning.ask(hz); }

    bool start() override
    {
        if (d_device.is_open())
            d_device.open_stream();
        d_tag = true;
        d_last = steady::now();
        return true;
    }

    bool stop() override
    {
        d_device.close_stream();
        return true;
    }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        for (;;) {
            boost::this_thread::interruption_point();
            d_retuning.serve(d_device);
            if (const int made = put_in(static_cast<gr_complex*>(out[0]), n))
                return made;
            if (d_device.stale())
                lose("found by the transmitter");
            const int got = d_device.is_open() ? read(out, n) : reopen();
            if (got > 0)
                return got;
        }
    }

    soapy_source_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    int read(gr_vector_void_star& out, int n)
    {
        int flags = 0;
        long long ns = 0;
        int got;
        try {
            got = d_device->readStream(d_device.stream(),
                                       out.data(),
                                       static_cast<size_t>(n),
                                       flags,
                                       ns,
                                       wait_us);
        } catch (const std::exception&) {
            got = SOAPY_SDR_STREAM_ERROR;
        }
        if (got > 0) {
            d_away = false;
            d_last = steady::now();
            if (flags & SOAPY_SDR_HAS_TIME)
                note_time(ns);
            d_since += static_cast<uint64_t>(got);
            return got;
        }
        if (got == SOAPY_SDR_OVERFLOW) {
            d_tag = true;
            tell("overflow");
        } else if (got == SOAPY_SDR_CORRUPTION || got == SOAPY_SDR_TIME_ERROR) {
            d_tag = true;
        } else if (got != 0 && got != SOAPY_SDR_TIMEOUT) {
            lose(SoapySDR::errToStr(got));
        } else if (seconds_since(std::max(d_last, d_opened)) > stalled_s) {
            lose("it gives no samples");
        }
        return 0;
    }

    static double seconds_since(steady::time_point t)
    {
        return std::chrono::duration<double>(steady::now() - t).count();
    }

    // Zeros for the time without a device, by the host's clock.
    int put_in(gr_complex* y, int n)
    {
        if (!d_away)
            return 0;
        const auto due =
            static_cast<uint64_t>(d_device.sample_rate() * seconds_since(d_last));
        const auto made = static_cast<int>(
            std::min<uint64_t>(static_cast<uint64_t>(n), due - std::min(due, d_given)));
        if (made == 0)
            return 0;
        std::fill_n(y, made, gr_complex());
        add_item_tag(0,
                     nitems_written(0),
                     keys::erased(),
                     pmt::from_uint64(static_cast<uint64_t>(made)));
        d_given += static_cast<uint64_t>(made);
        return made;
    }

    void lose(const std::string& why)
    {
        d_device.lose();
        d_device.release();
        d_tag = true;
        d_tried = steady::now();
        if (!d_away)
            d_given = 0;
        d_away = true;
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            ++d_state.outages;
            d_state.open = false;
            d_state.trouble = why;
        }
        tell("lost");
    }

    int reopen()
    {
        boost::this_thread::sleep_for(boost::chrono::milliseconds(10));
        if (seconds_since(d_tried) < again_s)
            return 0;
        d_tried = steady::now();
        if (!d_device.reopen())
            return 0;
        d_opened = steady::now();
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            d_state.open = true;
        }
        tell("back");
        return 0;
    }

    // Tag a sample whose time does not follow from the count of samples.
    void note_time(long long ns)
    {
        const long double per_sample = 1e9L / d_device.sample_rate();
        const long double expected =
            static_cast<long double>(d_anchor) + per_sample * d_since;
        if (!d_tag && std::abs(static_cast<long double>(ns) - expected) < per_sample / 2)
            return;
        d_tag = false;
        d_anchor = ns;
        d_since = 0;
        const long long second = 1000000000;
        const long long whole = ns >= 0 ? ns / second : -((-ns + second - 1) / second);
        add_item_tag(
            0,
            nitems_written(0),
            pmt::mp("rx_time"),
            device_tags::tag({ whole, static_cast<double>(ns - whole * second) * 1e-9 }));
    }

    void tell(const std::string& reason)
    {
        message_port_pub(pmt::mp("events"),
                         pdu::builder("device").set(keys::reason(), reason).make());
    }

    soapy_device d_device;
    retuning d_retuning;
    steady::time_point d_last, d_opened,
        d_tried;          // times of the last sample, of opening and of the last attempt
    bool d_away = false;  // no sample has arrived since the device was lost
    uint64_t d_given = 0; // zeros given since the device was lost
    mutable std::mutex d_mutex;
    soapy_source_state d_state;
    bool d_tag = true;
    long long d_anchor = 0; // time at the last tag, ns
    uint64_t d_since = 0;   // samples since the last tag
};

} // namespace

std::vector<std::map<std::string, std::string>>
soapy_source::devices(const std::string& args)
{
    std::vector<std::map<std::string, std::string>> found;
    for (const auto& d : SoapySDR::Device::enumerate(args))
        found.emplace_back(d.begin(), d.end());
    return found;
}

soapy_source::sptr soapy_source::make(const std::string& args,
                                      double sample_rate,
                                      double frequency_hz,
                                      double lo_offset_hz,
                                      double gain_db,
                                      const std::string& antenna,
                                      int channel,
                                      const std::string& clock_source,
                                      const std::string& time_source)
{
    return gnuradio::make_block_sptr<soapy_source_impl>(soapy_settings{ args,
                                                                        sample_rate,
                                                                        frequency_hz,
                                                                        lo_offset_hz,
                                                                        gain_db,
                                                                        antenna,
                                                                        channel,
                                                                        clock_source,
                                                                        time_source });
}

} // namespace gr::hf
