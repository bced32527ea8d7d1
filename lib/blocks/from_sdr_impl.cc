/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/device_tags.h"
#include "blocks/pdu.h"
#include "radio/arrival_clock.h"
#include "radio/audio_meter.h"
#include "radio/audio_to_baseband.h"
#include "radio/rx_timeline.h"
#include "radio/tx_bursts.h"

#include <gnuradio/io_signature.h>
#include <hf/from_sdr.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>

namespace gr::hf {
namespace {

class from_sdr_impl : public from_sdr
{
public:
    from_sdr_impl(double device_rate, double modem_rate)
        : gr::block("hf_from_sdr",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_rate(device_rate),
          d_ratio(kernel::audio_rates{ device_rate, 0, modem_rate }.ratio()),
          d_converter(device_rate, 0, modem_rate), d_timeline(device_rate),
          d_clock(device_rate), d_meter(2 * device_rate)
    {
        kernel::tx_burst_settings{ device_rate, modem_rate }
            .check(); // same limits both ways
        set_relative_rate(modem_rate / device_rate);
        set_tag_propagation_policy(TPP_DONT);
        message_port_register_out(pmt::mp("time"));
        message_port_register_out(pmt::mp("events"));
    }

    bool start() override
    {
        d_begin = std::chrono::steady_clock::now();
        return true;
    }

    void forecast(int, gr_vector_int& required) override { required[0] = 1; }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        const auto* x = static_cast<const gr_complex*>(in[0]);
        // Take no more than the output will soon have room for. The rest waits in the
        // input buffer.
        if (d_waiting.size() < static_cast<size_t>(n) && available[0] > 0)
            take(x, static_cast<size_t>(std::min(available[0], max_at_once)));
        const size_t made = std::min(d_waiting.size(), static_cast<size_t>(n));
        std::copy_n(d_waiting.begin(), made, static_cast<gr_complex*>(out[0]));
        d_waiting.erase(d_waiting.begin(),
                        d_waiting.begin() + static_cast<std::ptrdiff_t>(made));
        const uint64_t end = nitems_written(0) + made;
        while (!d_erased.empty() && d_erased.front().first < end) {
            const auto [at, length] = d_erased.front();
            d_erased.pop_front();
            add_item_tag(0, at, pmt::mp("erased"), pmt::from_uint64(length));
        }
        return static_cast<int>(made);
    }

    from_sdr_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    static constexpr int max_at_once = 8192;
    // Limit for one tag. Any block may add any tag.
    static constexpr uint64_t max_erased = uint64_t{ 1 } << 32;

    // Read the time in a tag before its sample.
    void take(const gr_complex* x, size_t n)
    {
        const uint64_t begin = nitems_read(0);
        std::vector<tag_t> tags;
        get_tags_in_range(tags, 0, begin, begin + n);
        std::sort(tags.begin(), tags.end(), tag_t::offset_compare);
        size_t done = 0;
        for (const auto& tag : tags) {
            const size_t at = tag.offset - begin;
            push(x + done, at - done);
            done = at;
            if (pmt::eq(tag.key, pmt::mp("rx_time"))) {
                if (const auto t = device_tags::time(tag.value))
                    heard_time(*t);
            } else if (pmt::eq(tag.key, keys::erased()) && pmt::is_uint64(tag.value)) {
                device_away(pmt::to_uint64(tag.value));
            }
        }
        push(x + done, n - done);
        consume(0, static_cast<int>(n));
        if (!d_state.timed) {
            const std::chrono::duration<double> now =
                std::chrono::steady_clock::now() - d_begin;
            const int64_t lost = d_clock.arrived(d_timeline.count(), now.count());
            if (lost > 0)
                put_in(static_cast<uint64_t>(lost));
            else
                d_leave_out += static_cast<uint64_t>(-lost);
        }
        std::lock_guard<std::mutex> lock(d_mutex);
        const auto& m = d_meter.reading();
        d_state.peak_db = m.peak_db;
        d_state.rms_db = m.rms_db + 3.0103; // I and Q together
        d_state.clipped = m.clipped;
        d_state.silent_s = m.silent_s;
        d_state.drift_ppm = d_clock.drift_ppm().value_or(0);
    }

    void heard_time(const kernel::device_time& t)
    {
        const bool known = d_timeline.origin().has_value();
        const auto v = d_timeline.at(t);
        if (v.lost > 0)
            put_in(v.lost);
        d_leave_out = v.repeated;
        if (!known || v.time_was_set) {
            const auto origin = *d_timeline.origin();
            message_port_pub(pmt::mp("time"),
                             pdu::builder("time")
                                 .set(keys::seconds(), pmt::from_long(origin.seconds))
                                 .set(keys::fraction(), origin.fraction)
                                 .make());
        }
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.timed = true;
        d_state.repeated += v.repeated;
    }

    // Zeros that replace a lost device. When the device is back its clock may be another.
    void device_away(uint64_t zeros)
    {
        const uint64_t from = modem_sample(d_timeline.count());
        const uint64_t to =
            modem_sample(d_timeline.count() + std::min(zeros, max_erased));
        if (to > from)
            d_erased.emplace_back(from, to - from);
        if (d_timeline.origin()) {
            d_timeline.forget_time();
            message_port_pub(pmt::mp("time"), pdu::builder("time").make());
        }
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.lost += zeros;
    }

    uint64_t modem_sample(uint64_t k) const // the first one at or after it
    {
        return (k * d_ratio.up + d_ratio.down - 1) / d_ratio.down;
    }

    void push(const gr_complex* x, size_t n)
    {
        d_meter.push(reinterpret_cast<const float*>(x), 2 * n);
        const size_t skip = std::min<size_t>(d_leave_out, n);
        d_leave_out -= skip;
        d_converter.push(x + skip, n - skip, d_waiting);
        d_timeline.counted(n - skip);
    }

    void put_in(uint64_t lost)
    {
        const uint64_t from = modem_sample(d_timeline.count());
        d_timeline.counted(lost);
        const uint64_t to = modem_sample(d_timeline.count());
        if (to > from)
            d_erased.emplace_back(from, to - from);
        static const std::vector<gr_complex> zeros(max_at_once);
        for (uint64_t left = lost; left > 0;) {
            const auto part = static_cast<size_t>(std::min<uint64_t>(left, zeros.size()));
            d_converter.push(zeros.data(), part, d_waiting);
            left -= part;
        }
        const auto now = from_seconds(static_cast<double>(d_timeline.count()) / d_rate);
        message_port_pub(
            pmt::mp("events"),
            pdu::builder("gap").set(keys::now(), now).set(keys::lost(), lost).make());
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.lost += lost;
        ++d_state.gaps;
    }

    const double d_rate;
    const kernel::fraction d_ratio; // modem rate to device rate
    kernel::audio_to_baseband d_converter;
    kernel::rx_timeline d_timeline;
    kernel::arrival_clock d_clock;
    kernel::audio_meter d_meter;
    std::chrono::steady_clock::time_point d_begin;
    std::vector<gr_complex> d_waiting;
    std::deque<std::pair<uint64_t, uint64_t>> d_erased; // output sample, how many
    uint64_t d_leave_out = 0;
    mutable std::mutex d_mutex;
    from_sdr_state d_state;
};

} // namespace

from_sdr::sptr from_sdr::make(double device_rate, double modem_rate)
{
    return gnuradio::make_block_sptr<from_sdr_impl>(device_rate, modem_rate);
}

} // namespace gr::hf
