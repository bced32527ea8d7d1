/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "blocks/stage_tags.h"
#include "waveform/message_framer.h"

#include <gnuradio/io_signature.h>
#include <hf/message_framer.h>
#include <hf/mode.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>

namespace gr::hf {
namespace {

constexpr size_t max_waiting = 64;

class message_framer_impl : public message_framer
{
public:
    explicit message_framer_impl(const kernel::description& d)
        : gr::sync_block("hf_message_framer",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(uint8_t))),
          d_d(d)
    {
        message_port_register_in(pmt::mp("pdus"));
        set_msg_handler(pmt::mp("pdus"), [this](const pmt::pmt_t& m) { on_pdu(m); });
        set_min_output_buffer(0, static_cast<long>(2 * d_d.input_bits));
    }

    uint64_t dropped() const override { return d_dropped; }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& items) override
    {
        auto* out = static_cast<uint8_t*>(items[0]);
        int done = 0;
        while (done < n && (d_at < d_bits.size() || next_block())) {
            const uint64_t here = nitems_written(0) + static_cast<uint64_t>(done);
            if (d_at == 0) {
                add_item_tag(0,
                             here,
                             pmt::intern(tags::packet_len),
                             pmt::from_long(static_cast<long>(d_bits.size())));
                if (d_first)
                    add_item_tag(0, here, pmt::intern(tags::tx_sob), pmt::PMT_T);
                d_first = false;
            }
            const size_t k = std::min<size_t>(d_bits.size() - d_at, n - done);
            std::copy_n(d_bits.begin() + static_cast<ptrdiff_t>(d_at), k, out + done);
            d_at += k;
            if (d_at == d_bits.size() && d_framer->finished())
                add_item_tag(0, here + k - 1, pmt::intern(tags::tx_eob), pmt::PMT_T);
            done += static_cast<int>(k);
        }
        return done; // a message wakes the scheduler
    }

private:
    // False if there is nothing to send.
    bool next_block()
    {
        if (!d_framer || d_framer->finished()) {
            if (d_waiting.empty())
                return false;
            d_octets = std::move(d_waiting.front());
            d_waiting.pop_front();
            d_framer.emplace(d_d);
            d_used = 0;
            d_first = true;
        }
        if (const size_t wanted = d_framer->octets_wanted()) {
            const size_t k = std::min(wanted, d_octets.size() - d_used);
            d_framer->give(d_octets.data() + d_used, k, d_used + k == d_octets.size());
            d_used += k;
        }
        d_bits = d_framer->take();
        d_at = 0;
        return true;
    }

    void on_pdu(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        if (r.valid() && d_waiting.size() < max_waiting &&
            (!r.has(keys::mode()) || r.symbol(keys::mode()) == d_d.m.to_string()))
            d_waiting.push_back(r.octets());
        else if (d_dropped++ == 0)
            d_logger->warn("pdus port: dropped (further ones are only counted): a PDU "
                           "of octets for {} is expected, at most {} wait",
                           d_d.m.to_string(),
                           max_waiting);
    }

    const kernel::description& d_d;
    std::deque<std::vector<uint8_t>> d_waiting;
    std::optional<kernel::message_framer> d_framer; // of the message
    std::vector<uint8_t> d_octets, d_bits;
    size_t d_used = 0, d_at = 0;
    bool d_first = false;
    std::atomic<uint64_t> d_dropped{ 0 };
};

} // namespace

message_framer::sptr message_framer::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<message_framer_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
