/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/device_tags.h"
#include "blocks/pdu.h"
#include "blocks/soapy_device.h"

#include <SoapySDR/Errors.hpp>
#include <boost/thread/thread.hpp>
#include <gnuradio/io_signature.h>
#include <hf/soapy_source.h>

#include <cmath>

namespace gr::hf {
namespace {

constexpr long wait_us = 100000;
constexpr int silent_waits = 10; // a second

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

    bool start() override
    {
        d_device.open_stream();
        d_tag = true;
        return true;
    }

    bool stop() override
    {
        d_device.close_stream();
        return true;
    }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        for (int waits = 0;;) {
            boost::this_thread::interruption_point();
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
                if (flags & SOAPY_SDR_HAS_TIME)
                    note_time(ns);
                d_since += static_cast<uint64_t>(got);
                return got;
            }
            if (got == 0 || got == SOAPY_SDR_TIMEOUT) {
                if (++waits % silent_waits == 0)
                    tell("silent");
            } else if (got == SOAPY_SDR_OVERFLOW) {
                d_tag = true;
                tell("overflow");
            } else if (got == SOAPY_SDR_CORRUPTION || got == SOAPY_SDR_TIME_ERROR) {
                d_tag = true;
            } else {
                d_logger->error("{}: the device is lost: {}",
                                d_device.name(),
                                SoapySDR::errToStr(got));
                tell("lost");
                return WORK_DONE;
            }
        }
    }

private:
    // Tags stand where the count of samples does not tell the time.
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
    bool d_tag = true;
    long long d_anchor = 0; // ns, at the last tag
    uint64_t d_since = 0;   // samples since then
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
