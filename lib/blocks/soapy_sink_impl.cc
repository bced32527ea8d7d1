/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/device_tags.h"
#include "radio/devices/soapy_device.h"

#include <SoapySDR/Errors.hpp>
#include <boost/thread/thread.hpp>
#include <gnuradio/io_signature.h>
#include <hf/soapy_sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

namespace gr::hf {
namespace {

constexpr long wait_us = 100000;
// A device that accepts nothing for this long is lost. Bursts begin a fraction of a
// second early.
constexpr int max_waits = 50;
constexpr std::chrono::seconds again{ 1 }; // between two attempts to open it again

class soapy_sink_impl : public soapy_sink
{
public:
    explicit soapy_sink_impl(const soapy_settings& settings)
        : gr::sync_block("hf_soapy_sink",
                         gr::io_signature::make(1, 1, sizeof(gr_complex)),
                         gr::io_signature::make(0, 0, 0)),
          d_device(SOAPY_SDR_TX, settings)
    {
        if (!d_device.timed())
            throw std::runtime_error(
                "args = '" + settings.args +
                "': the device has no hardware time, so that nothing can "
                "be transmitted at a time: it can only receive");
        message_port_register_out(pmt::mp("reports"));
    }

    ~soapy_sink_impl() override { end_listening(); }

    void set_frequency(double hz) override
    {
        std::lock_guard<std::mutex> lock(d_use);
        d_device.set_frequency(hz);
    }

    void key_by_burst(const std::string& bank, int pin, bool inverted) override
    {
        if (pin < 1 || pin > 32)
            throw std::invalid_argument("pin = " + std::to_string(pin) +
                                        ": allowed are 1 to 32");
        std::lock_guard<std::mutex> lock(d_use);
        d_device.set_atr({ bank, pin, inverted });
    }

    bool start() override
    {
        if (d_device.is_open())
            d_device.open_stream();
        d_sending = d_dropping = false;
        d_ended = false;
        d_listener = std::thread([this] { listen(); });
        return true;
    }

    bool stop() override
    {
        end_listening();
        d_device.close_stream();
        return true;
    }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        const auto* x = static_cast<const gr_complex*>(in[0]);
        const uint64_t begin = nitems_read(0);
        const auto next = [&](const char* name, int from) -> std::optional<tag_t> {
            std::vector<tag_t> tags;
            get_tags_in_range(tags,
                              0,
                              begin + static_cast<uint64_t>(from),
                              begin + static_cast<uint64_t>(n),
                              pmt::mp(name));
            if (tags.empty())
                return std::nullopt;
            return *std::min_element(tags.begin(), tags.end(), tag_t::offset_compare);
        };
        for (int at = 0; at < n;) {
            if (!d_sending) {
                const auto sob = next("tx_sob", at);
                if (!sob)
                    break; // samples outside a burst are not sent
                at = static_cast<int>(sob->offset - begin);
                d_sending = true;
                d_dropping = false;
                const auto time = next("tx_time", at);
                d_time = time && time->offset == sob->offset
                             ? device_tags::time(time->value)
                             : std::nullopt;
            }
            const auto eob = next("tx_eob", at);
            const int end = eob ? static_cast<int>(eob->offset - begin) + 1 : n;
            write(x + at, end - at, eob.has_value());
            at = end;
            d_sending = !eob;
        }
        return n;
    }

private:
    void write(const gr_complex* x, int n, bool last)
    {
        for (int waits = 0; n > 0 && !d_dropping;) {
            boost::this_thread::interruption_point();
            const int sent = write_some(x, n, last);
            if (sent > 0) {
                d_time.reset();
                x += sent;
                n -= sent;
                waits = 0;
            } else if (sent == SOAPY_SDR_TIME_ERROR || sent == SOAPY_SDR_UNDERFLOW) {
                report(sent, std::nullopt);
                if (sent == SOAPY_SDR_TIME_ERROR)
                    return;
            } else if ((sent != 0 && sent != SOAPY_SDR_TIMEOUT) || ++waits > max_waits) {
                // Until the end of the burst, even if the device is back before.
                d_dropping = true;
                d_device.lose();
                report(sent, std::nullopt);
            }
        }
    }

    int write_some(const gr_complex* x, int n, bool last)
    {
        std::lock_guard<std::mutex> lock(d_use);
        if (!d_device.is_open() || d_device.stale())
            return SOAPY_SDR_STREAM_ERROR;
        int flags = last ? SOAPY_SDR_END_BURST : 0;
        long long ns = 0;
        if (d_time) {
            flags |= SOAPY_SDR_HAS_TIME;
            ns = d_time->seconds * 1000000000LL + std::llround(d_time->fraction * 1e9);
        }
        const void* buffers[] = { x };
        try {
            return d_device->writeStream(
                d_device.stream(), buffers, static_cast<size_t>(n), flags, ns, wait_us);
        } catch (const std::exception&) {
            return SOAPY_SDR_STREAM_ERROR;
        }
    }

    // Reports of the device about its transmissions. The same thread closes a lost device
    // and opens it again, since there may be nothing to transmit for hours.
    void listen()
    {
        auto tried = std::chrono::steady_clock::now();
        while (!d_ended) {
            if (d_device.stale()) {
                std::lock_guard<std::mutex> lock(d_use);
                d_device.release();
            }
            if (!d_device.is_open()) {
                std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
                const auto now = std::chrono::steady_clock::now();
                if (now - tried < again)
                    continue;
                tried = now;
                std::lock_guard<std::mutex> lock(d_use);
                d_device.reopen();
                continue;
            }
            size_t channels = 0;
            int flags = 0, code;
            long long ns = 0;
            try {
                code = d_device->readStreamStatus(
                    d_device.stream(), channels, flags, ns, wait_us);
            } catch (const std::exception&) {
                code = SOAPY_SDR_STREAM_ERROR;
            }
            if (code == SOAPY_SDR_TIME_ERROR || code == SOAPY_SDR_UNDERFLOW)
                report(code,
                       flags & SOAPY_SDR_HAS_TIME ? std::optional<long long>(ns)
                                                  : std::nullopt);
            else if (code < 0 && code != SOAPY_SDR_TIMEOUT) // some devices report nothing
                std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
        }
    }

    void end_listening()
    {
        d_ended = true;
        if (d_listener.joinable())
            d_listener.join();
    }

    void report(int code, std::optional<long long> ns)
    {
        const char* name = code == SOAPY_SDR_TIME_ERROR  ? "time_error"
                           : code == SOAPY_SDR_UNDERFLOW ? "underflow"
                                                         : "device_lost";
        auto meta = pmt::dict_add(
            pmt::make_dict(), pmt::mp("event_code"), pmt::list1(pmt::mp(name)));
        if (ns)
            meta = pmt::dict_add(
                meta,
                pmt::mp("time_spec"),
                pmt::cons(
                    pmt::from_long(*ns / 1000000000),
                    pmt::from_double(static_cast<double>(*ns % 1000000000) * 1e-9)));
        message_port_pub(pmt::mp("reports"), pmt::cons(pmt::mp("uhd_async_msg"), meta));
    }

    soapy_device d_device;
    std::thread d_listener;
    std::atomic<bool> d_ended{ true };
    std::mutex
        d_use; // guards d_device: work() writes, the listener closes and opens, any
               // thread tunes
    bool d_sending = false, d_dropping = false;
    std::optional<kernel::device_time>
        d_time; // time of the next sample, at the start of a burst
};

} // namespace

soapy_sink::sptr soapy_sink::make(const std::string& args,
                                  double sample_rate,
                                  double frequency_hz,
                                  double lo_offset_hz,
                                  double gain_db,
                                  const std::string& antenna,
                                  int channel,
                                  const std::string& clock_source,
                                  const std::string& time_source)
{
    return gnuradio::make_block_sptr<soapy_sink_impl>(soapy_settings{ args,
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
