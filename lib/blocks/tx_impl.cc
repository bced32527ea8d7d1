/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/level.h"
#include "blocks/pdu.h"
#include "modem/burst_modulator.h"

#include <gnuradio/io_signature.h>
#include <hf/tx.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <stdexcept>

namespace gr::hf {
namespace {

constexpr size_t max_waiting = 64;

class tx_impl : public tx
{
public:
    tx_impl(const std::string& mode_text,
            int agc_blocks,
            double gap_ms,
            bool continuous,
            double level)
        : gr::sync_block("hf_tx",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_mode(mode::parse(mode_text)), d_agc_blocks(agc_blocks),
          d_continuous(continuous), d_level(level),
          d_gap(
              static_cast<size_t>(std::lround(gap_ms * 1e-3 * d_modulator.sample_rate())))
    {
        if (agc_blocks < 0 || agc_blocks > 7)
            throw std::invalid_argument("agc_blocks " + std::to_string(agc_blocks) +
                                        ": allowed are 0 to 7");
        if (!(gap_ms >= 0 && gap_ms <= 60000))
            throw std::invalid_argument("gap_ms " + std::to_string(gap_ms) +
                                        ": allowed are 0 to 60000");
        message_port_register_in(pmt::mp("pdus"));
        set_msg_handler(pmt::mp("pdus"), [this](const pmt::pmt_t& m) { on_pdu(m); });
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
            } else if (d_modulator.active()) {
                if (d_modulator.produced() == 0)
                    add_item_tag(
                        0, nitems_written(0) + done, pmt::mp("tx_sob"), pmt::PMT_T);
                const size_t k =
                    d_modulator.produce(out + done, static_cast<size_t>(n - done));
                d_level.apply(out + done, k);
                done += static_cast<int>(k);
                if (!d_modulator.active()) {
                    ++d_transmissions;
                    // A receiver needs some time after the last symbol.
                    d_silence = d_waiting.empty() ? d_gap : 0;
                    add_item_tag(
                        0, nitems_written(0) + done - 1, pmt::mp("tx_eob"), pmt::PMT_T);
                }
            } else if (!d_waiting.empty()) {
                begin();
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
    struct message {
        mode m;
        std::vector<uint8_t> octets;
    };

    void on_pdu(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        message next{ d_mode, r.octets() };
        try {
            if (r.has(keys::mode()))
                next.m = mode::parse(r.symbol(keys::mode()));
        } catch (const std::invalid_argument& e) {
            drop(e.what());
            return;
        }
        const double rate = kernel::grid_of(next.m).sample_rate();
        if (rate != d_modulator.sample_rate())
            drop("pdus port: mode " + next.m.to_string() + " has " +
                 std::to_string(std::lround(rate)) + " samples/s, this block " +
                 std::to_string(std::lround(d_modulator.sample_rate())));
        else if (!r.valid())
            drop("pdus port: expected a PDU (dictionary, u8vector)");
        else if (d_waiting.size() >= max_waiting)
            drop("pdus port: 64 messages wait already");
        else
            d_waiting.push_back(std::move(next));
    }

    void drop(const std::string& why)
    {
        if (d_dropped++ == 0)
            d_logger->warn("{}: dropped (further ones are only counted)", why);
    }

    void begin()
    {
        d_current = std::move(d_waiting.front());
        d_waiting.pop_front();
        d_used = 0;
        d_silence = d_gap;
        kernel::tx_options options;
        options.agc_blocks = std::min(
            d_agc_blocks, static_cast<int>(kernel::describe(d_current.m).max_agc_blocks));
        d_modulator.start(
            d_current.m,
            [this](uint64_t, size_t room) {
                tx_octets o;
                const auto from =
                    d_current.octets.begin() + static_cast<ptrdiff_t>(d_used);
                const size_t k = std::min(room, d_current.octets.size() - d_used);
                o.octets.assign(from, from + static_cast<ptrdiff_t>(k));
                d_used += k;
                o.last = d_used == d_current.octets.size();
                return o;
            },
            options);
    }

    const mode d_mode;
    const int d_agc_blocks;
    const bool d_continuous;
    hf::level d_level;
    kernel::burst_modulator d_modulator{ kernel::grid_of(d_mode).sample_rate() };
    const size_t d_gap;
    std::deque<message> d_waiting;
    message d_current;
    size_t d_used = 0;
    size_t d_silence = 0;
    std::atomic<uint64_t> d_transmissions{ 0 };
    std::atomic<uint64_t> d_dropped{ 0 };
};

} // namespace

tx::sptr tx::make(const std::string& mode,
                  int agc_blocks,
                  double gap_ms,
                  bool continuous,
                  double level)
{
    return gnuradio::make_block_sptr<tx_impl>(
        mode, agc_blocks, gap_ms, continuous, level);
}

} // namespace gr::hf
