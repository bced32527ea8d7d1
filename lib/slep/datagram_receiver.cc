/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/datagram_receiver.h"

#include "slep/deflate.h"

namespace gr::hf::slep {

void datagram_receiver::on_pdu(peer_state& p, unreliable_datagram d, uint8_t)
{
    const size_t most = d_ctx.config.datagram_octets;
    if (d.compressed) {
        auto plain = inflater().run(d.data.data(), d.data.size(), most);
        if (!plain) {
            ++d_ctx.stats.bad_pdus;
            return;
        }
        d.data = std::move(*plain);
    }
    if (!d_ctx.listening.test(p.who.extended) || d_unread + d.data.size() > most) {
        ++d_ctx.stats.datagrams_dropped;
        return;
    }
    ++d_ctx.stats.datagrams_received;
    d_unread += d.data.size();
    d_ctx.tell(event::type::datagram, 0, p.who, std::move(d.data));
}

void datagram_receiver::on_pdu(peer_state& p, reliable_datagram d, uint8_t priority)
{
    const bool wanted = d.answer_wanted, compressed = d.compressed;
    const uint16_t number = d.number;
    const auto answer = [&](uint8_t code) {
        if (wanted)
            d_control.add(p, datagram_answer{ number, code }, priority);
    };
    if (!d_ctx.listening.test(p.who.extended)) {
        ++d_ctx.stats.datagrams_dropped;
        answer(reason_no_listener);
        return;
    }
    auto r = p.datagrams.put(d_ctx.now, std::move(d));
    d_ctx.stats.datagrams_dropped += r.lost;
    if (r.duplicate)
        ++d_ctx.stats.duplicates;
    if (!r.whole)
        return;
    unreliable_datagram whole{ compressed, std::move(*r.whole) };
    const uint64_t bad = d_ctx.stats.bad_pdus;
    on_pdu(p, std::move(whole), priority);
    answer(d_ctx.stats.bad_pdus == bad ? 0 : reason_decompression);
}

void datagram_receiver::on_pdu(peer_state&, const datagram_answer&, uint8_t)
{
    // We never request it. The node confirm ends a reliable datagram here.
    ++d_ctx.stats.bad_pdus;
}

std::optional<station_time> datagram_receiver::next_deadline(const peer_state& p) const
{
    const auto t = p.datagrams.oldest();
    return t ? std::optional(*t + d_ctx.config.reliable_ttl) : std::nullopt;
}

void datagram_receiver::on_deadline(peer_state& p)
{
    d_ctx.stats.datagrams_dropped +=
        p.datagrams.drop_older(d_ctx.now - d_ctx.config.reliable_ttl);
}

} // namespace gr::hf::slep
