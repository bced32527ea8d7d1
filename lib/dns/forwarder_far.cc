/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/forwarder_impl.h"

#include <algorithm>

namespace gr::hf::dns {

namespace {

// Below 2 kB one U_PDU is enough. Larger messages are sent in segments, up to this.
constexpr size_t raw_max = 16384;

bool is_address(uint16_t type) { return type == type_a || type == type_aaaa; }

} // namespace

void forwarder::impl::serve(const slep::user_address& from,
                            uint8_t transaction,
                            kind what,
                            question ask)
{
    const auto& may = d_config.peers;
    const bool known_peer =
        may.empty() || std::find(may.begin(), may.end(), from.node) != may.end();
    const bool repeated =
        std::any_of(d_served.begin(), d_served.end(), [&](const auto& s) {
            return s.second.from == from && s.second.transaction == transaction &&
                   s.second.ask.name == ask.name;
        });
    if (repeated)
        return;
    served s;
    s.from = from;
    s.transaction = transaction;
    s.what = what;
    s.raw = ask.dnssec;
    s.ask = ask;
    s.give_up = d_now + d_config.upstream_wait;
    ++d_stats.served;
    known verdict;
    verdict.code = rcode::refused;
    if (!d_config.serve || !known_peer) {
        ++d_stats.refused_peers;
        s.results = { verdict };
        answer_peer(s);
        return;
    }
    if (is_blocked(ask.name) || d_served.size() >= d_config.pending_max) {
        verdict.code = is_blocked(ask.name) ? rcode::no_such_name : rcode::server_failure;
        verdict.ttl = d_config.limits.negative_max_s;
        s.results = { verdict };
        answer_peer(s);
        return;
    }
    std::vector<question> wanted = { ask };
    if (what == kind::both)
        wanted.push_back({ ask.name, type_aaaa, false });
    const uint64_t number = d_next++;
    for (const question& q : wanted) {
        const auto f = d_cache.find(d_now, q);
        if (f && !f->stale) {
            known k = *f->what;
            k.ttl = f->ttl_s;
            s.results.push_back(std::move(k));
            continue;
        }
        action a;
        a.what = action::kind::ask;
        a.id = d_next++;
        a.message = make_query(q);
        d_asks[a.id] = { number, q };
        d_actions.push_back(std::move(a));
        ++s.waiting;
        ++d_stats.upstream;
    }
    if (s.waiting == 0)
        answer_peer(s);
    else
        d_served.emplace(number, std::move(s));
}

void forwarder::impl::on_response(uint64_t id, const uint8_t* p, size_t n)
{
    const auto a = d_asks.find(id);
    if (a == d_asks.end())
        return;
    const question what = a->second.what;
    const auto r = read_response(p, n);
    if (!r || r->ask.name != what.name || r->ask.type != what.type || n > raw_max) {
        ++d_stats.bad_messages;
        on_ask_failed(id);
        return;
    }
    known k;
    k.code = r->code;
    k.ttl = r->ttl;
    if (is_address(what.type) && !what.dnssec)
        k.addresses = r->addresses;
    else if (what.dnssec)
        k.raw.assign(p, p + n);
    else if (r->code == rcode::ok && r->any_answer)
        k.raw = only_answer(p, *r);
    if (what.dnssec)
        k.code = rcode::ok; // the raw message has its own code
    if (k.code == rcode::ok || k.code == rcode::no_such_name)
        d_cache.put(d_now, what, k);
    resolved(id, std::move(k));
}

void forwarder::impl::on_ask_failed(uint64_t id)
{
    known k;
    k.code = rcode::server_failure;
    resolved(id, std::move(k));
}

void forwarder::impl::resolved(uint64_t ask_id, known k)
{
    const auto a = d_asks.find(ask_id);
    if (a == d_asks.end())
        return;
    const auto it = d_served.find(a->second.served);
    d_asks.erase(a);
    if (it == d_served.end())
        return;
    it->second.results.push_back(std::move(k));
    if (--it->second.waiting > 0)
        return;
    const served s = std::move(it->second);
    d_served.erase(it);
    answer_peer(s);
}

void forwarder::impl::answer_peer(const served& s)
{
    using outcome = hf_answer::outcome;
    hf_answer a;
    a.transaction = s.transaction;
    a.what = outcome::server_failure;
    std::optional<uint32_t> ttl;
    hf_message message;
    for (const known& k : s.results) {
        if (k.code == rcode::ok && a.what != outcome::ok)
            ttl.reset(); // of the failed family
        if (k.code == rcode::ok)
            a.what = outcome::ok;
        else if (a.what == outcome::ok)
            continue;
        else if (k.code == rcode::no_such_name)
            a.what = outcome::no_such_name;
        else if (k.code == rcode::refused)
            a.what = outcome::refused;
        // "No data" of one family does not limit how long the other one is valid.
        if (!k.addresses.empty() || !ttl)
            ttl = std::min(ttl.value_or(k.ttl), k.ttl);
        size_t left[2] = { d_config.addresses_max, d_config.addresses_max };
        for (const ip::address& x : k.addresses)
            if (left[x.is_v6()] > 0) {
                --left[x.is_v6()];
                a.addresses.push_back(x);
            }
    }
    a.ttl = ttl.value_or(0);
    message = a;
    const octets* raw = s.results.empty() || s.results.front().raw.empty()
                            ? nullptr
                            : &s.results.front().raw;
    if (raw != nullptr)
        message = raw_answer{ s.transaction, without_id(*raw) };
    const octets wire = encode(message);
    if (!d_link.send_confirmed(d_now, s.from, wire, d_config.priority, d_config.wait_max))
        d_link.send_reliable(d_now, s.from, wire, d_config.priority);
}

} // namespace gr::hf::dns
