/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "blocks/sound_checks.h"
#include "radio/baseband_to_audio.h"
#include "radio/feed_regulator.h"
#include "radio/keying_line.h"
#include "radio/keying_tone.h"
#include "radio/transmission_cut.h"
#include "radio/tx_log.h"

#include <gnuradio/io_signature.h>
#include <hf/to_audio.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>

namespace gr::hf {
namespace {

class to_audio_impl : public to_audio
{
public:
    to_audio_impl(double audio_rate,
                  double subcarrier_hz,
                  double modem_rate,
                  const kernel::keying_settings& keying,
                  double device_buffer_s,
                  double tone_hz)
        : gr::block("hf_to_audio",
                    gr::io_signature::make(1, 1, sizeof(gr_complex)),
                    gr::io_signature::make(1 + (tone_hz > 0),
                                           1 + (tone_hz > 0),
                                           sizeof(float))),
          d_modem_rate(modem_rate), d_line(keying),
          d_converter(audio_rate, subcarrier_hz, modem_rate, true),
          d_regulator(audio_rate, device_buffer_s), d_has_tone(tone_hz > 0),
          d_tone(audio_rate / modem_rate, 2 * M_PI * tone_hz / audio_rate)
    {
        check_sound("tone_hz", tone_hz, 0, audio_rate / 2);
        set_relative_rate(audio_rate / modem_rate);
        set_tag_propagation_policy(TPP_DONT);
        // Samples that wait here delay the link.
        set_max_output_buffer(std::max(1024, static_cast<int>(0.02 * audio_rate)));
        message_port_register_out(pmt::mp("key"));
        message_port_register_out(pmt::mp("events"));
        message_port_register_in(pmt::mp("held"));
        set_msg_handler(pmt::mp("held"), [this](const pmt::pmt_t& m) { on_held(m); });
    }

    void forecast(int, gr_vector_int& required) override { required[0] = 1; }

    int general_work(int n,
                     gr_vector_int& available,
                     gr_vector_const_void_star& in,
                     gr_vector_void_star& out) override
    {
        if (d_waiting.size() < static_cast<size_t>(n)) {
            const int take = std::min(available[0], max_at_once);
            push(static_cast<const gr_complex*>(in[0]), static_cast<size_t>(take));
            consume(0, take);
        }
        const size_t made = std::min(d_waiting.size(), static_cast<size_t>(n));
        std::copy_n(d_waiting.begin(), made, static_cast<float*>(out[0]));
        if (d_has_tone)
            d_tone.produce(static_cast<float*>(out[1]), made);
        d_waiting.erase(d_waiting.begin(),
                        d_waiting.begin() + static_cast<std::ptrdiff_t>(made));
        return static_cast<int>(made);
    }

    // A flowgraph that ends in the middle of a transmission must not leave the key down.
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
    static constexpr int max_at_once = 2048;
    static constexpr double max_held_s = 10; // no device holds more

    // What the device holds, as hf.audio_sink reports.
    void on_held(const pmt::pmt_t& msg)
    {
        const double held = pdu::reader(msg).real(keys::held_s(), -1);
        if (const auto gaps = pdu::reader(msg).integer(keys::gaps()))
            note_gaps(static_cast<uint64_t>(*gaps),
                      held < 0 ? kernel::tx_trouble::lost
                               : kernel::tx_trouble::underflow);
        if (!(held >= 0 && held <= max_held_s))
            return;
        if (!d_has_tone) { // the tone waits in the device as the samples do
            d_line.device_holds(held);
            const double host = pdu::reader(msg).real(keys::host_s(), -1);
            if (host >= 0)
                d_empty_s = host + held;
        }
        const double wanted = pdu::reader(msg).real(keys::wanted_s(), -1);
        if (wanted >= 0 && wanted <= max_held_s)
            d_regulator.set_target(wanted);
        if (const auto seconds = d_regulator.reported(held, nitems_written(0)))
            d_line.trim(std::llround(*seconds * d_modem_rate));
    }

    // Samples not played while keyed are a hole in the transmission. The link must not
    // count its data as lost by the channel.
    void note_gaps(uint64_t gaps, kernel::tx_trouble what)
    {
        const bool more = gaps > d_gaps, lost = what == kernel::tx_trouble::lost;
        d_gaps = gaps;
        if (!more || !d_line.keyed() || (d_damaged == d_transmission && !lost))
            return;
        d_damaged = d_transmission;
        const auto now = from_seconds(static_cast<double>(nitems_read(0)) / d_modem_rate);
        message_port_pub(
            pmt::mp("events"),
            modem_messages::tx_damaged(now, d_transmission, kernel::to_string(what)));
        std::lock_guard<std::mutex> lock(d_mutex);
        ++d_state.damaged;
    }

    void push(const gr_complex* x, size_t n)
    {
        const auto tagged = [this, n](const char* name) {
            std::vector<tag_t> tags;
            const uint64_t begin = nitems_read(0);
            get_tags_in_range(tags, 0, begin, begin + n, pmt::mp(name));
            std::vector<size_t> at;
            for (const auto& tag : tags)
                at.push_back(tag.offset - begin);
            return at;
        };
        for (const auto& run :
             kernel::cut_transmissions(n, tagged("tx_sob"), tagged("tx_eob")))
            one(x + run.at, run);
    }

    static double host_s()
    {
        const std::chrono::duration<double> now =
            std::chrono::steady_clock::now().time_since_epoch();
        return now.count();
    }

    void one(const gr_complex* x, const kernel::transmission_run& run)
    {
        d_passed.clear();
        if (run.first && d_empty_s)
            d_line.device_delay(*d_empty_s - host_s());
        d_transmission += run.first.has_value();
        const auto events = d_line.push(x, run.count, run.first, run.last, d_passed);
        d_converter.push(d_passed.data(), d_passed.size(), d_waiting);
        for (const auto& e : events) {
            tell(e.down);
            if (d_has_tone)
                d_tone.key(e.down, e.sample);
        }
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

    const double d_modem_rate;
    kernel::keying_line d_line;
    kernel::baseband_to_audio d_converter;
    kernel::feed_regulator d_regulator;
    const bool d_has_tone;
    kernel::keying_tone d_tone;
    std::optional<double>
        d_empty_s;               // by the host's clock: the device has played everything
                                 // by then
    uint64_t d_gaps = 0;         // gaps of the device, as last reported
    uint64_t d_transmission = 0; // number of the last transmission that began
    uint64_t d_damaged = 0;      // the last one reported as damaged
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
                              double latency_s,
                              double tone_hz)
{
    kernel::keying_settings keying;
    keying.sample_rate = modem_rate;
    keying.lead_s = lead_s;
    keying.tail_s = tail_s;
    keying.device_delay_s = device_delay_s;
    keying.device_buffer_s = device_buffer_s;
    keying.latency_s = latency_s;
    keying.check();
    if (tone_hz > 0) // key and samples wait in the device together
        keying.device_delay_s = keying.device_buffer_s = 0;
    return gnuradio::make_block_sptr<to_audio_impl>(
        audio_rate, subcarrier_hz, modem_rate, keying, device_buffer_s, tone_hz);
}

} // namespace gr::hf
