/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_meter.h"
#include "radio/audio_to_baseband.h"

#include <gnuradio/io_signature.h>
#include <hf/from_audio.h>
#include <hf/keys.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

namespace gr::hf {
namespace {

class from_audio_impl : public from_audio
{
public:
    from_audio_impl(double audio_rate, double subcarrier_hz, double modem_rate)
        : gr::block("hf_from_audio",
                    gr::io_signature::make(1, 1, sizeof(float)),
                    gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_ratio(modem_rate / audio_rate),
          d_converter(audio_rate, subcarrier_hz, modem_rate), d_meter(audio_rate)
    {
        set_relative_rate(modem_rate / audio_rate);
        set_tag_propagation_policy(TPP_DONT);
    }

    void forecast(int, gr_vector_int& required) override { required[0] = 1; }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        const auto* x = static_cast<const float*>(in[0]);
        auto* y = static_cast<gr_complex*>(out[0]);
        // Take no more than the output will soon have room for. The rest waits in the
        // input buffer.
        const int take = d_waiting.size() < static_cast<size_t>(n)
                             ? std::min(available[0], max_at_once)
                             : 0;
        if (take > 0) {
            push(x, static_cast<size_t>(take));
            pass_erased(nitems_read(0), static_cast<size_t>(take));
            consume(0, take);
        }
        const size_t made = std::min(d_waiting.size(), static_cast<size_t>(n));
        for (; !d_erased.empty() && d_erased.front().first < nitems_written(0) + made;
             d_erased.pop_front())
            add_item_tag(0,
                         std::max(d_erased.front().first, nitems_written(0)),
                         keys::erased(),
                         pmt::from_uint64(d_erased.front().count));
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
        d_meter.push(x, n);
        d_converter.push(x, n, d_waiting);
        std::lock_guard<std::mutex> lock(d_mutex);
        const auto& m = d_meter.reading();
        d_state.peak_db = m.peak_db;
        d_state.rms_db = m.rms_db;
        d_state.clipped = m.clipped;
        d_state.silent_s = m.silent_s;
    }

    // Lost samples are reported in samples of the baseband.
    void pass_erased(uint64_t begin, size_t n)
    {
        std::vector<tag_t> tags;
        get_tags_in_range(tags, 0, begin, begin + n, keys::erased());
        for (const auto& tag : tags) {
            if (!pmt::is_uint64(tag.value))
                continue;
            const double first = static_cast<double>(tag.offset) * d_ratio;
            const double count = static_cast<double>(pmt::to_uint64(tag.value)) * d_ratio;
            const auto from = static_cast<uint64_t>(first);
            const auto to = static_cast<uint64_t>(std::ceil(first + count));
            d_erased.push_back({ from, to - from });
        }
    }

    static constexpr int max_at_once = 8192;

    const double d_ratio;
    kernel::audio_to_baseband d_converter;
    kernel::audio_meter d_meter;
    std::vector<gr_complex> d_waiting;
    struct range {
        uint64_t first, count;
    };
    std::deque<range> d_erased; // output samples
    mutable std::mutex d_mutex;
    from_audio_state d_state;
};

} // namespace

from_audio::sptr
from_audio::make(double audio_rate, double subcarrier_hz, double modem_rate)
{
    return gnuradio::make_block_sptr<from_audio_impl>(
        audio_rate, subcarrier_hz, modem_rate);
}

} // namespace gr::hf
