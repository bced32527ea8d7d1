/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_text.h"
#include "ale/modem/transmitter.h"
#include "blocks/level.h"
#include "blocks/pdu.h"
#include "radio/audio_rates.h"

#include <gnuradio/io_signature.h>
#include <hf/ale_tx.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>

namespace gr::hf {
namespace {

constexpr size_t max_waiting = 64;
using rates = kernel::audio_rates;

void check(const char* name, double value, double least, double most)
{
    if (!(value >= least && value <= most))
        throw std::invalid_argument(std::string(name) + " " + rates::text(value) +
                                    ": allowed are " + rates::text(least) + " to " +
                                    rates::text(most));
}

class ale_tx_impl : public ale_tx
{
public:
    ale_tx_impl(int channels, int sounds, double gap_ms, bool continuous, double level)
        : gr::sync_block("hf_ale_tx",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_channels(channels), d_sounds(sounds),
          // The samples of the engine have magnitude 1.
          d_level(level, 1), d_continuous(continuous),
          d_gap(static_cast<size_t>(std::lround(gap_ms * 1e-3 * rates::default_modem)))
    {
        message_port_register_in(pmt::mp("frames"));
        set_msg_handler(pmt::mp("frames"), [this](const pmt::pmt_t& m) { on_pdu(m); });
        set_max_output_buffer(4096);
    }

    uint64_t transmissions() const override { return d_transmissions; }
    uint64_t dropped() const override { return d_dropped; }
    void set_level(double level) override { d_level.set(level); }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& items) override
    {
        auto* out = static_cast<gr_complex*>(items[0]);
        int done = 0;
        while (done < n) {
            if (d_silence > 0) {
                const int k = static_cast<int>(std::min<size_t>(d_silence, n - done));
                std::fill_n(out + done, k, gr_complex());
                d_silence -= static_cast<size_t>(k);
                done += k;
            } else if (d_current) {
                done += send(out + done, n - done, nitems_written(0) + done);
            } else if (!d_waiting.empty()) {
                d_current.emplace(
                    d_waiting.front(), rates::default_modem, rates::default_subcarrier);
                d_waiting.pop_front();
                d_sent = 0;
                d_silence = d_gap;
            } else if (d_continuous) {
                std::fill(out + done, out + n, gr_complex());
                done = n;
            } else {
                break; // a message wakes the scheduler
            }
        }
        return done;
    }

private:
    int send(gr_complex* out, int room, uint64_t at)
    {
        if (d_sent == 0)
            add_item_tag(0, at, pmt::mp("tx_sob"), pmt::PMT_T);
        const size_t k = d_current->produce(out, static_cast<size_t>(room));
        d_level.apply(out, k);
        d_sent += k;
        if (d_sent == d_current->length()) {
            add_item_tag(0, at + k - 1, pmt::mp("tx_eob"), pmt::PMT_T);
            d_current.reset();
            ++d_transmissions;
            d_silence = d_waiting.empty() ? d_gap : 0;
        }
        return static_cast<int>(k);
    }

    void on_pdu(const pmt::pmt_t& message)
    {
        const pdu::reader r(message);
        if (!r.valid())
            return drop("frames port: expected a PDU (dictionary, u8vector)");
        if (d_waiting.size() >= max_waiting)
            return drop("frames port: 64 frames wait already");
        const auto octets = r.octets();
        try {
            auto plan = ale::plan_of(std::string(octets.begin(), octets.end()));
            plan.channels = d_channels;
            plan.sounds = static_cast<size_t>(d_sounds);
            d_waiting.push_back(ale::words_of(plan));
        } catch (const std::invalid_argument& e) {
            drop(e.what());
        }
    }

    void drop(const std::string& why)
    {
        if (d_dropped++ == 0)
            d_logger->warn("{}: dropped (further ones are only counted)", why);
    }

    const int d_channels, d_sounds;
    hf::level d_level;
    const bool d_continuous;
    const size_t d_gap;
    std::deque<std::vector<ale::word>> d_waiting;
    std::optional<ale::transmitter> d_current;
    uint64_t d_sent = 0;
    size_t d_silence = 0;
    std::atomic<uint64_t> d_transmissions{ 0 };
    std::atomic<uint64_t> d_dropped{ 0 };
};

} // namespace

ale_tx::sptr
ale_tx::make(int channels, int sounds, double gap_ms, bool continuous, double level)
{
    check("channels", channels, 0, 100);
    check("sounds", sounds, 1, 1000);
    check("gap_ms", gap_ms, 0, 60000);
    check("level", level, 0.001, 10);
    return gnuradio::make_block_sptr<ale_tx_impl>(
        channels, sounds, gap_ms, continuous, level);
}

} // namespace gr::hf
