/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "radio/arrival_clock.h"
#include "radio/audio_meter.h"
#include "radio/audio_to_baseband.h"

#include <gnuradio/io_signature.h>
#include <hf/from_audio.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace gr::hf {
namespace {

class from_audio_impl : public from_audio
{
public:
    from_audio_impl(double audio_rate, double subcarrier_hz, double modem_rate, bool live)
        : gr::block("hf_from_audio",
                    gr::io_signature::make(1, 1, sizeof(float)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_live(live), d_most_lost(most_put_in_s * audio_rate),
          d_converter(audio_rate, subcarrier_hz, modem_rate), d_clock(audio_rate),
          d_meter(audio_rate)
    {
        set_relative_rate(modem_rate / audio_rate);
        set_tag_propagation_policy(TPP_DONT);
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
        const auto* x = static_cast<const float*>(in[0]);
        auto* y = static_cast<gr_complex*>(out[0]);
        // No more than there will soon be room for: the rest waits in the buffer ahead.
        const int take = d_waiting.size() < static_cast<size_t>(n)
                             ? std::min(available[0], most_at_once)
                             : 0;
        if (take > 0) {
            push(x, static_cast<size_t>(take));
            consume(0, take);
        }
        const size_t made = std::min(d_waiting.size(), static_cast<size_t>(n));
        std::copy_n(d_waiting.begin(), made, y);
        d_waiting.erase(d_waiting.begin(),
                        d_waiting.begin() + static_cast<std::ptrdiff_t>(made));
        return static_cast<int>(made);
    }

    from_audio_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    void push(const float* x, size_t n)
    {
        d_samples += n;
        d_meter.push(x, n);
        int64_t lost = 0;
        if (d_live) {
            const std::chrono::duration<double> now =
                std::chrono::steady_clock::now() - d_begin;
            lost = d_clock.arrived(d_samples, now.count());
        }
        // What was put in too much is taken back by dropping as much, as it comes.
        d_too_many -= std::min<int64_t>(lost, 0);
        const size_t drop = std::min<size_t>(static_cast<size_t>(d_too_many), n);
        d_too_many -= static_cast<int64_t>(drop);
        d_converter.push(x + drop, n - drop, d_waiting);
        if (lost > 0) {
            const std::vector<float> zeros(static_cast<size_t>(
                std::min<double>(static_cast<double>(lost), d_most_lost)));
            d_converter.push(zeros.data(), zeros.size(), d_waiting);
            d_samples += zeros.size();
        } else if (lost < 0) {
            d_samples -= static_cast<uint64_t>(-lost);
        }
        if (lost != 0)
            message_port_pub(
                pmt::mp("events"),
                pdu::builder("gap").set(keys::lost(), pmt::from_long(lost)).make());
        std::lock_guard<std::mutex> lock(d_mutex);
        const auto& m = d_meter.reading();
        d_state.peak_db = m.peak_db;
        d_state.rms_db = m.rms_db;
        d_state.clipped = m.clipped;
        d_state.silent_s = m.silent_s;
        d_state.lost = static_cast<uint64_t>(
            std::max<int64_t>(0, static_cast<int64_t>(d_state.lost) + lost));
        d_state.drift_ppm = d_clock.drift_ppm().value_or(0);
    }

    static constexpr int most_at_once = 8192;
    // A device that was away longer is a reason to begin anew, not for so many zeros at once.
    static constexpr double most_put_in_s = 600;

    const bool d_live;
    const double d_most_lost;
    kernel::audio_to_baseband d_converter;
    kernel::arrival_clock d_clock;
    kernel::audio_meter d_meter;
    std::chrono::steady_clock::time_point d_begin;
    std::vector<gr_complex> d_waiting;
    uint64_t d_samples = 0; // received, and put in for lost ones
    int64_t d_too_many = 0;
    mutable std::mutex d_mutex;
    from_audio_state d_state;
};

} // namespace

from_audio::sptr
from_audio::make(double audio_rate, double subcarrier_hz, double modem_rate, bool live)
{
    return gnuradio::make_block_sptr<from_audio_impl>(
        audio_rate, subcarrier_hz, modem_rate, live);
}

} // namespace gr::hf
