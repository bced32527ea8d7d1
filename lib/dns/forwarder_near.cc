/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/forwarder_impl.h"

#include <algorithm>

namespace gr::hf::dns {

namespace {

// TTL of configured names.
constexpr uint32_t local_ttl_s = 60;

bool is_address(uint16_t type) { return type == type_a || type == type_aaaa; }

} // namespace

void forwarder::impl::reply(uint64_t client, octets message)
{
    action a;
    a.what = action::kind::reply;
    a.id = client;
    a.message = std::move(message);
    d_actions.push_back(std::move(a));
}

octets forwarder::impl::reply_of(const query& q, const known& k, uint32_t ttl) const
{
    if (k.code != rcode::ok)
        return make_reply(q, k.code);
    if (k.raw.empty())
        return make_reply(q, k.addresses, ttl);
    octets d = make_reply(q, k.raw, ttl);
    return d.empty() ? make_reply(q, rcode::server_failure) : d;
}

bool forwarder::impl::is_blocked(const std::string& name) const
{
    return std::any_of(
        d_config.blocked.begin(),
        d_config.blocked.end(),
        [&name](const std::string& b) { return below(name, b); });
}

std::optional<octets> forwarder::impl::answer_here(const query& q)
{
    const std::string& name = q.ask.name;
    std::vector<ip::address> addresses;
    bool ours = false;
    for (const local_name& l : d_config.local) {
        if (l.name != name)
            continue;
        ours = true;
        addresses.push_back(l.address);
    }
    if (!ours && below(name, "localhost")) {
        ours = true;
        addresses = { ip::address("127.0.0.1"), ip::address("::1") };
    }
    if (ours)
        return make_reply(q, addresses, local_ttl_s);
    if (is_blocked(name))
        return make_reply(q, rcode::no_such_name);
    const auto& none = d_config.no_data;
    if (std::find(none.begin(), none.end(), q.ask.type) != none.end() ||
        (q.ask.type == type_aaaa && !d_config.ipv6))
        return make_reply(q, rcode::ok);
    if (q.ask.type == type_any)
        return make_reply(q, rcode::not_implemented);
    // Zone transfers, mailbox and other queries that are not data types.
    if (q.ask.type >= type_ixfr && q.ask.type < type_any)
        return make_reply(q, rcode::refused);
    return std::nullopt;
}

bool forwarder::impl::on_query(uint64_t client, const uint8_t* p, size_t n)
{
    ++d_stats.queries;
    auto read = read_query(p, n);
    if (auto* error = std::get_if<octets>(&read)) {
        ++d_stats.malformed;
        if (error->empty())
            return false;
        reply(client, std::move(*error));
        return true;
    }
    query& q = std::get<query>(read);
    q.ask.dnssec = q.ask.dnssec && d_config.dnssec;
    if (auto here = answer_here(q)) {
        ++d_stats.local;
        reply(client, std::move(*here));
        return true;
    }
    if (const auto f = d_cache.find(d_now, q.ask); f && !f->stale) {
        ++d_stats.cached;
        reply(client, reply_of(q, *f->what, f->ttl_s));
        return true;
    }
    if (!ask_far(client, q)) {
        ++d_stats.failed;
        if (!answer_stale({ client, q, std::nullopt }))
            reply(client, make_reply(q, rcode::server_failure));
    }
    return true;
}

bool forwarder::impl::answer_stale(const pending::waiter& w)
{
    const auto f = d_cache.find(d_now, w.q.ask);
    if (!f)
        return false;
    ++d_stats.stale;
    reply(w.client, reply_of(w.q, *f->what, f->stale ? d_config.stale_ttl_s : f->ttl_s));
    return true;
}

pending* forwarder::impl::find_pending(const question& ask)
{
    for (auto& entry : d_pending) {
        const pending& p = entry.second;
        const bool both = p.what == kind::both && is_address(ask.type) && !ask.dnssec;
        if (p.ask.name == ask.name && p.ask.dnssec == ask.dnssec &&
            (both || p.ask.type == ask.type))
            return &entry.second;
    }
    return nullptr;
}

bool forwarder::impl::ask_far(uint64_t client, const query& q)
{
    const name_route* via = nullptr;
    for (const name_route& r : d_config.routes)
        if (below(q.ask.name, r.suffix) &&
            (via == nullptr || r.suffix.size() > via->suffix.size() ||
             via->suffix == "."))
            via = &r;
    if (via == nullptr)
        return false;
    pending::waiter w{ client, q, std::nullopt };
    // While the link is down a stale answer comes at once. The question is still sent.
    if (d_cache.find(d_now, q.ask))
        w.stale_at =
            d_now + (d_link.reachable(via->node) ? d_config.stale_wait : station_time(0));
    pending* p = find_pending(q.ask);
    if (p != nullptr) {
        if (p->waiters.size() >= d_config.waiters_max)
            return false;
        ++d_stats.joined;
        p->waiters.push_back(std::move(w));
        return true;
    }
    if (d_pending.size() >= d_config.pending_max)
        return false;
    pending fresh;
    fresh.number = d_next++;
    fresh.node = via->node;
    fresh.give_up = d_now + d_config.wait_max;
    fresh.ask = q.ask;
    for (int tries = 0; by_transaction(fresh.node, d_next_transaction) != d_pending.end();
         ++d_next_transaction)
        if (++tries > 256)
            return false;
    fresh.transaction = d_next_transaction++;
    hf_message message;
    if (q.ask.dnssec) {
        fresh.what = kind::other;
        message = raw_question{ fresh.transaction, without_id(make_query(q.ask)) };
    } else {
        fresh.what = !is_address(q.ask.type) ? kind::other
                     : d_config.ipv6         ? kind::both
                                             : kind::a;
        if (fresh.what == kind::both)
            fresh.ask.type = type_a;
        message = hf_question{ fresh.transaction, fresh.what, q.ask.type, q.ask.name };
    }
    const auto sent = d_link.send_confirmed(d_now,
                                            { fresh.node, d_config.slep.sap, 0 },
                                            encode(message),
                                            d_config.priority,
                                            d_config.wait_max);
    if (!sent)
        return false;
    fresh.datagram = *sent;
    fresh.waiters.push_back(std::move(w));
    ++d_stats.asked;
    d_pending.emplace(fresh.number, std::move(fresh));
    return true;
}

std::map<uint64_t, pending>::iterator
forwarder::impl::by_transaction(const s5066::address& node, uint8_t transaction)
{
    return std::find_if(
        d_pending.begin(),
        d_pending.end(),
        [&](const auto& p) {
            return p.second.node == node && p.second.transaction == transaction;
        });
}

void forwarder::impl::give_up(std::map<uint64_t, pending>::iterator it)
{
    ++d_stats.failed;
    for (const auto& w : it->second.waiters)
        if (!answer_stale(w))
            reply(w.client, make_reply(w.q, rcode::server_failure));
    d_pending.erase(it);
}

void forwarder::impl::finish(std::map<uint64_t, pending>::iterator it)
{
    ++d_stats.answered;
    for (const auto& w : it->second.waiters) {
        const auto f = d_cache.find(d_now, w.q.ask);
        reply(w.client,
              f ? reply_of(w.q, *f->what, f->stale ? d_config.stale_ttl_s : f->ttl_s)
                : make_reply(w.q, rcode::server_failure));
    }
    d_pending.erase(it);
}

void forwarder::impl::answered(const s5066::address& node, const hf_answer& a)
{
    const auto it = by_transaction(node, a.transaction);
    if (it == d_pending.end()) {
        ++d_stats.bad_messages;
        return;
    }
    known k;
    k.ttl = a.ttl;
    k.code = static_cast<rcode>(
        a.what == hf_answer::outcome::ok             ? rcode::ok
        : a.what == hf_answer::outcome::no_such_name ? rcode::no_such_name
        : a.what == hf_answer::outcome::refused      ? rcode::refused
                                                     : rcode::server_failure);
    const bool failed = k.code == rcode::server_failure || k.code == rcode::refused;
    if (failed)
        k.ttl = 0;
    std::vector<question> about = { it->second.ask };
    if (it->second.what == kind::both)
        about.push_back({ it->second.ask.name, type_aaaa, false });
    for (const question& q : about) {
        // A failure is cached for a while, but does not replace a better answer.
        if (failed && d_cache.find(d_now, q))
            continue;
        known part = k;
        for (const ip::address& x : a.addresses)
            if (q.type == (x.is_v6() ? type_aaaa : type_a))
                part.addresses.push_back(x);
        d_cache.put(d_now, q, std::move(part));
    }
    finish(it);
}

void forwarder::impl::answered(const s5066::address& node, const raw_answer& a)
{
    const auto it = by_transaction(node, a.transaction);
    known k;
    k.raw = with_id(a.message);
    const auto r = read_response(k.raw.data(), k.raw.size());
    if (it == d_pending.end() || it->second.what != kind::other || !r ||
        r->ask.name != it->second.ask.name || r->ask.type != it->second.ask.type) {
        ++d_stats.bad_messages;
        return;
    }
    k.ttl = r->ttl;
    d_cache.put(d_now, it->second.ask, std::move(k));
    finish(it);
}

} // namespace gr::hf::dns
