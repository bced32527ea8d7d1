/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "radio/baseband_to_audio.h"
#include "radio/feed_regulator.h"
#include "radio/keying_line.h"

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer.h>
#include <gnuradio/io_signature.h>
#include <hf/to_audio.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace gr::hf {
namespace {

class to_audio_impl : public to_audio
{
public:
    to_audio_impl(double audio_rate,
                  double subcarrier_hz,
                  double modem_rate,
                  const kernel::keying_settings& keying,
                  bool live)
        : gr::block("hf_to_audio",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1, 1, sizeof(float))),
          d_live(live), d_audio_rate(audio_rate), d_modem_rate(modem_rate),
          d_line(keying), d_converter(audio_rate, subcarrier_hz, modem_rate),
          d_regulator(audio_rate)
    {
        set_relative_rate(audio_rate / modem_rate);
        set_tag_propagation_policy(TPP_DONT);
        // What waits here is delay between the link and the air.
        set_max_output_buffer(std::max(1024, static_cast<int>(0.02 * audio_rate)));
        message_port_register_out(pmt::mp("key"));
        if (live) // the device's buffer is filled before anything is transmitted
            d_line.trim(std::llround(keying.device_buffer_s * modem_rate));
    }

    void forecast(int, gr_vector_int& required) override { required[0] = 1; }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        if (d_live)
            regulate();
        if (d_waiting.size() < static_cast<size_t>(n)) {
            const int take = std::min(available[0], most_at_once);
            push(static_cast<const gr_complex*>(in[0]), static_cast<size_t>(take));
            consume(0, take);
        }
        const size_t made = std::min(d_waiting.size(), static_cast<size_t>(n));
        std::copy_n(d_waiting.begin(), made, static_cast<float*>(out[0]));
        d_waiting.erase(d_waiting.begin(),
                        d_waiting.begin() + static_cast<std::ptrdiff_t>(made));
        return static_cast<int>(made);
    }

    // Whoever ends the flowgraph in the middle of a transmission must not leave the key down.
    bool stop() override
    {
        if (d_line.keyed())
            tell(false);
        return true;
    }

    to_audio_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    static constexpr int most_at_once = 2048;

    // What the device has not taken yet tells how full its own buffer is: see feed_regulator.
    void regulate()
    {
        const auto& buffer = detail()->output(0);
        size_t queued = d_waiting.size();
        {
            gr::thread::scoped_lock lock(*buffer->mutex());
            queued +=
                static_cast<size_t>(buffer->bufsize() - 1 - buffer->space_available());
        }
        if (const auto seconds = d_regulator.queued(
                static_cast<double>(queued) / d_audio_rate, nitems_written(0)))
            d_line.trim(std::llround(*seconds * d_modem_rate));
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.waiting_ms = 1e3 * static_cast<double>(queued) / d_audio_rate;
    }

    void push(const gr_complex* x, size_t n)
    {
        const auto at = [this, n](const char* name) -> std::optional<size_t> {
            std::vector<tag_t> tags;
            const uint64_t begin = nitems_read(0);
            get_tags_in_range(tags, 0, begin, begin + n, pmt::mp(name));
            return tags.empty() ? std::nullopt
                                : std::optional<size_t>(tags.front().offset - begin);
        };
        // One transmission after another in one piece is cut between them.
        const auto last = at("tx_eob");
        const size_t cut = last ? *last + 1 : n;
        const auto first = at("tx_sob");
        one(x, cut, first && *first < cut ? first : std::nullopt, last);
        if (cut < n)
            one(x + cut,
                n - cut,
                first && *first >= cut ? std::optional<size_t>(*first - cut)
                                       : std::nullopt,
                std::nullopt);
    }

    void one(const gr_complex* x,
             size_t n,
             std::optional<size_t> first,
             std::optional<size_t> last)
    {
        d_passed.clear();
        const auto events = d_line.push(x, n, first, last, d_passed);
        d_converter.push(d_passed.data(), d_passed.size(), d_waiting);
        for (const auto& e : events)
            tell(e.down);
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.keyed = d_line.keyed();
        d_state.added = static_cast<uint64_t>(d_line.added());
        d_state.left_out = static_cast<uint64_t>(d_line.left_out());
    }

    void tell(bool down)
    {
        message_port_pub(pmt::mp("key"),
                         pdu::builder("key").set(keys::down(), down).make());
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.key_downs += down;
    }

    const bool d_live;
    const double d_audio_rate, d_modem_rate;
    kernel::keying_line d_line;
    kernel::baseband_to_audio d_converter;
    kernel::feed_regulator d_regulator;
    std::vector<gr_complex> d_passed;
    std::vector<float> d_waiting;
    mutable std::mutex d_mutex;
    to_audio_state d_state;
};

} // namespace

to_audio::sptr to_audio::make(double audio_rate,
                              double subcarrier_hz,
                              double modem_rate,
                              double lead_s,
                              double tail_s,
                              double device_delay_s,
                              double device_buffer_s,
                              bool live)
{
    return gnuradio::make_block_sptr<to_audio_impl>(
        audio_rate,
        subcarrier_hz,
        modem_rate,
        kernel::keying_settings{
            modem_rate, lead_s, tail_s, device_delay_s, device_buffer_s },
        live);
}

} // namespace gr::hf
