/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/forwarder_impl.h"

#include <algorithm>

namespace gr::hf::dns {

namespace {

std::string normal_suffix(const std::string& text)
{
    return text == "." ? text : normal_name(text).value_or("");
}
} // namespace

forwarder::impl::impl(const forwarder_config& c)
    : d_config((c.validate(), c)), d_link(c.slep), d_cache(c.limits)
{
    for (name_route& r : d_config.routes)
        r.suffix = normal_suffix(r.suffix);
    for (local_name& l : d_config.local)
        l.name = normal_suffix(l.name);
    for (std::string& b : d_config.blocked)
        b = normal_suffix(b);
    d_link.listen(0);
}

void forwarder::impl::pump()
{
    while (auto e = d_link.poll_event()) {
        if (e->what == slep::event::type::open) {
            d_link.refuse(d_now, e->stream, slep::reason_not_supported);
            continue;
        }
        if (e->what == slep::event::type::datagram_done && e->code != 0) {
            const auto it =
                std::find_if(d_pending.begin(), d_pending.end(), [&e](const auto& p) {
                    return p.second.datagram == e->stream;
                });
            if (it != d_pending.end())
                give_up(it);
            continue;
        }
        if (e->what != slep::event::type::datagram)
            continue;
        const auto m = decode(e->data.data(), e->data.size());
        if (!m) {
            ++d_stats.bad_messages;
        } else if (const auto* q = std::get_if<hf_question>(&*m)) {
            const uint16_t type = q->what == kind::other  ? q->type
                                  : q->what == kind::aaaa ? uint16_t(type_aaaa)
                                                          : uint16_t(type_a);
            serve(e->from, q->transaction, q->what, { q->name, type, false });
        } else if (const auto* raw = std::get_if<raw_question>(&*m)) {
            const octets whole = with_id(raw->message);
            const auto read = read_query(whole.data(), whole.size());
            if (const auto* rq = std::get_if<query>(&read))
                serve(e->from,
                      raw->transaction,
                      kind::other,
                      { rq->ask.name, rq->ask.type, true });
            else
                ++d_stats.bad_messages;
        } else if (const auto* a = std::get_if<hf_answer>(&*m)) {
            answered(e->from.node, *a);
        } else if (const auto* r = std::get_if<raw_answer>(&*m)) {
            answered(e->from.node, *r);
        }
    }
    // The link has failed since. A cached answer is better than waiting.
    for (auto& entry : d_pending)
        if (!d_link.reachable(entry.second.node))
            for (auto& w : entry.second.waiters)
                if (w.stale_at)
                    w.stale_at = std::min(*w.stale_at, d_now);
}

std::optional<station_time> forwarder::impl::next_deadline() const
{
    std::optional<station_time> first = d_link.next_deadline();
    const auto at = [&first](station_time t) {
        if (!first || t < *first)
            first = t;
    };
    for (const auto& p : d_pending) {
        at(p.second.give_up);
        for (const auto& w : p.second.waiters)
            if (w.stale_at)
                at(*w.stale_at);
    }
    for (const auto& s : d_served)
        at(s.second.give_up);
    return first;
}

void forwarder::impl::on_deadline()
{
    d_link.on_deadline(d_now);
    pump();
    for (auto it = d_pending.begin(); it != d_pending.end();) {
        const auto at = it++;
        auto& waiters = at->second.waiters;
        waiters.erase(std::remove_if(waiters.begin(),
                                     waiters.end(),
                                     [this](pending::waiter& w) {
                                         if (!w.stale_at || *w.stale_at > d_now)
                                             return false;
                                         w.stale_at.reset();
                                         return answer_stale(w);
                                     }),
                      waiters.end());
        if (at->second.give_up <= d_now)
            give_up(at);
    }
    for (auto it = d_served.begin(); it != d_served.end();) {
        const auto at = it++;
        if (at->second.give_up > d_now)
            continue;
        for (auto a = d_asks.begin(); a != d_asks.end();)
            a = a->second.served == at->first ? d_asks.erase(a) : std::next(a);
        served s = std::move(at->second);
        d_served.erase(at);
        answer_peer(s);
    }
}

} // namespace gr::hf::dns
