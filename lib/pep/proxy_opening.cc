/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Connections open: by a local application, or by a request of the peer.
#include "pep/proxy_impl.h"

#include <algorithm>

namespace gr::hf::hfpep {

namespace {

// A connection idle for this long makes room for another one of the same source.
constexpr station_time gives_way_after = std::chrono::seconds(60);
// Extra time. The edge should have answered a connect before.
constexpr station_time connect_grace = std::chrono::seconds(5);

} // namespace

proxy::impl::judged proxy::impl::judge(const destination& to,
                                       const endpoint_address& source) const
{
    judged j{ d_config.no_route, find_route(d_config.routes, to), {} };
    j.why = status::network_unreachable;
    if (j.via == nullptr)
        return j;
    j.why = status::forbidden;
    j.rule_index = find_rule(d_config.rules, to, source, j.via->node, d_rate);
    const rule r = j.rule_index ? d_config.rules[*j.rule_index] : rule{};
    j.what = r.action;
    if (j.what != rule_action::proxy)
        return j;
    const bool full = j.rule_index && !has_room(*j.rule_index, j.via->node);
    j.wait = full && r.over_waits;
    j.over = over_limit(j.via->node);
    if (j.over != nullptr || (full && !j.wait)) {
        j.what = rule_action::reject;
        j.why = status::too_many_connections;
    }
    return j;
}

uint64_t proxy_stats::*proxy::impl::over_limit(const s5066::address& node) const
{
    if (d_connections.size() >= d_config.max_connections)
        return &proxy_stats::over_connections;
    const auto with = d_with_peer.find(node);
    if (with != d_with_peer.end() && with->second >= d_config.opens.standing_peer)
        return &proxy_stats::over_peer;
    return nullptr;
}

connection& proxy::impl::add(connection_id id, const slep::user_address& far)
{
    connection& c = d_connections[id];
    c.id = id;
    c.far = far;
    c.since = c.last_use = d_now;
    ++d_with_peer[far.node];
    return c;
}

rule_action proxy::impl::on_accept(connection_id id,
                                   const destination& to,
                                   const endpoint_address& source,
                                   std::optional<bool> late)
{
    judged j = judge(to, source);
    if (j.over == &proxy_stats::over_connections && make_room(source.host))
        j = judge(to, source);
    if (id >= own_ids || d_connections.count(id) != 0)
        j.what = rule_action::reject;
    // Checked last, because a connection refused anyway does not count.
    if (j.what == rule_action::proxy && !d_local_opens.take(d_now, j.via->node)) {
        j.what = rule_action::reject;
        j.why = status::too_many_connections;
        j.over = &proxy_stats::over_rate;
    }
    d_refusal = j.what == rule_action::proxy ? status::connected : j.why;
    if (j.what != rule_action::proxy) {
        ++d_stats.rejected;
        if (j.over != nullptr)
            ++(d_stats.*j.over);
        return j.what;
    }
    ++d_stats.accepted;
    connection& c = add(id, { j.via->node, j.via->sap, 0 });
    c.local = true;
    c.to = to;
    c.source = source;
    c.rule_index = j.rule_index;
    if (j.rule_index)
        c.how = d_config.rules[*j.rule_index];
    if (c.how.tls_apart)
        c.tls.emplace(); // the program speaks only after the answer of a SOCKS port
    else
        c.how.late_accept = late.value_or(c.how.late_accept);
    if (j.wait) {
        c.state = phase::waiting;
        c.connect_by = d_now + c.how.outage_max;
        ++d_waiting;
        return j.what;
    }
    begin(c);
    return j.what;
}

bool proxy::impl::make_room(const ip::address& source)
{
    std::map<ip::address, size_t> held;
    for (const auto& entry : d_connections)
        if (entry.second.source && entry.second.local)
            ++held[entry.second.source->host];
    size_t most = 0;
    for (const auto& h : held)
        most = std::max(most, h.second);
    // The source with the most connections makes room for others. It makes room for
    // itself only with a connection that has long been idle.
    connection* oldest = nullptr;
    for (auto& entry : d_connections) {
        connection& c = entry.second;
        if (c.local && c.source && held[c.source->host] == most &&
            (oldest == nullptr || c.last_use < oldest->last_use))
            oldest = &c;
    }
    const bool has_more = most > held[source] + 1;
    if (oldest == nullptr || (!has_more && d_now - oldest->last_use < gives_way_after))
        return false;
    log("HF-PEP: all connections in use, that of " + oldest->source->to_string() +
        " to " + oldest->to.to_string() + ", the one idle for longest, is reset");
    ++d_stats.displaced;
    drop(*oldest, slep::reason_local_abort, status::too_many_connections);
    return true;
}

void proxy::impl::begin(connection& c)
{
    c.state = c.tls && !c.greeted ? phase::greeting : phase::hold;
    c.connect_by.reset();
    if (c.state == phase::greeting) {
        // The edge ends it before, so that the program learns the reason.
        c.connect_by = d_now + d_config.connect_limit + connect_grace;
        return;
    }
    if (c.how.late_accept || c.out.eof) {
        start(c);
        return;
    }
    c.start_at = d_now + std::min(c.how.hold, d_config.hold_max);
    c.since = d_now;
    grant(c);
}

size_t proxy::impl::carried_by(size_t rule_index) const
{
    return static_cast<size_t>(std::count_if(
        d_connections.begin(),
        d_connections.end(),
        [&](const auto& c) {
            return c.second.local && c.second.rule_index == rule_index &&
                   c.second.state != phase::waiting;
        }));
}

size_t proxy::impl::load(const s5066::address& node) const
{
    size_t octets = 0;
    for (const slep::stream_info& s : d_link.list())
        octets += s.other.node == node ? s.waiting + s.unconfirmed : 0;
    return octets;
}

bool proxy::impl::has_room(size_t rule_index, const s5066::address& node) const
{
    const rule& r = d_config.rules[rule_index];
    return (r.max_connections == 0 || carried_by(rule_index) < r.max_connections) &&
           (r.load_max == 0 || load(node) <= r.load_max);
}

bool proxy::impl::is_full_for(const std::optional<size_t>& rule_index,
                              const s5066::address& node) const
{
    const size_t most = rule_index ? d_config.rules[*rule_index].max_connections : 0;
    const auto held =
        std::count_if(d_connections.begin(), d_connections.end(), [&](const auto& c) {
            return !c.second.local && c.second.rule_index == rule_index &&
                   c.second.far.node == node;
        });
    return most > 0 && static_cast<size_t>(held) >= most;
}

void proxy::impl::release_waiting()
{
    if (d_waiting == 0)
        return;
    std::vector<connection_id> ids; // in order of arrival
    for (const auto& c : d_connections)
        if (c.second.state == phase::waiting)
            ids.push_back(c.first);
    for (const connection_id id : ids) {
        connection& c = *find(id);
        if (c.rule_index && !has_room(*c.rule_index, c.far.node))
            continue;
        --d_waiting;
        begin(c);
    }
}

void proxy::impl::start(connection& c)
{
    c.start_at.reset();
    connect_request q;
    q.to = c.to;
    q.tls = c.tls;
    if (d_config.tell_source)
        q.source = c.source;
    q.answer_first = c.how.late_accept;
    const long limit_s =
        std::chrono::duration_cast<std::chrono::seconds>(d_config.connect_limit).count();
    if (limit_s != 30)
        q.connect_limit_s = static_cast<uint8_t>(limit_s);
    const octets request = encode(q);
    if (request.empty()) {
        drop(c, 0, status::address_type_not_supported);
        return;
    }
    if (d_link.failures(c.far.node) > 0 && !d_link.heard(c.far.node) &&
        d_link.retry_at(c.far.node) > d_now) {
        c.contact_from = d_now; // the node was called a moment ago
        give_up(c);
        return;
    }
    // A number rests after its stream, so a busy proxy uses the next extended address.
    for (const uint8_t extended : d_config.extended) {
        c.far.extended = extended;
        const auto s =
            d_link.open(d_now, c.far, request, c.out.held, c.out.eof, options_of(c));
        if (!s)
            continue;
        c.stream = *s;
        c.state = phase::opening;
        if (!d_link.heard(c.far.node)) {
            c.contact_from = d_now;
            c.failures_before = d_link.failures(c.far.node);
            d_contacts.insert(c.id);
        }
        octets().swap(c.out.held);
        d_by_stream[*s] = c.id;
        grant(c);
        return;
    }
    drop(c, 0, status::too_many_connections);
}

void proxy::impl::on_connect_ok(connection& c,
                                const std::optional<endpoint_address>& actual,
                                const std::string& alpn)
{
    if (c.state != phase::connecting)
        return;
    c.state = phase::open;
    c.connect_by.reset();
    ++d_stats.connected;
    connect_answer a;
    if (c.tls && c.tls->alpn.size() > 1)
        a.alpn = alpn; // otherwise the peer knows it
    if (c.tls)
        c.tls->alpn = { alpn };
    // A client that requested a name does not know the address yet.
    if (c.by_name)
        a.actual = actual;
    d_link.accept(d_now, c.stream, encode(a), options_of(c));
    grant(c);
}

void proxy::impl::on_request(const slep::event& e)
{
    ++d_stats.requested;
    auto decoded = decode_request(e.data.data(), e.data.size());
    auto* q = std::get_if<connect_request>(&decoded);
    // Rules and allow use IPv4 for mapped addresses of the peer.
    if (q != nullptr)
        if (auto* at = std::get_if<ip::address>(&q->to.host))
            *at = at->unmapped();
    status why = q != nullptr ? status::connected : std::get<status>(decoded);
    std::optional<size_t> rule_index;
    uint64_t proxy_stats::*over = nullptr;
    if (q == nullptr) {
        ++d_stats.bad_requests;
    } else {
        rule_index = find_rule(d_config.rules, q->to, {}, e.from.node, d_rate);
        const bool known =
            std::any_of(d_config.routes.begin(),
                        d_config.routes.end(),
                        [&e](const stream_route& r) { return r.node == e.from.node; });
        if (!known && !d_config.accept_from_anyone)
            why = status::peer_not_allowed;
        else if ((rule_index &&
                  d_config.rules[*rule_index].action != rule_action::proxy) ||
                 !may_ask(d_config.allow, q->to))
            why = status::forbidden;
        else if (!may_ask(for_peer(d_config.allow, e.from.node), q->to))
            why = status::peer_not_allowed;
        else if ((over = over_limit(e.from.node)) != nullptr ||
                 is_full_for(rule_index, e.from.node))
            why = status::too_many_connections;
    }
    if (why == status::connected && !d_far_opens.take(d_now, e.from.node)) {
        why = status::too_many_connections;
        over = &proxy_stats::over_rate;
    }
    if (why != status::connected) {
        ++d_stats.rejected;
        if (over != nullptr)
            ++(d_stats.*over);
        d_link.refuse(d_now, e.stream, uint8_t(why));
        return;
    }
    connection& c = add(d_next_id++, e.from);
    c.state = phase::connecting;
    c.to = q->to;
    c.source = q->source;
    c.tls = q->tls;
    c.by_name = std::holds_alternative<std::string>(q->to.host);
    c.stream = e.stream;
    c.rule_index = rule_index;
    if (rule_index)
        c.how = d_config.rules[*rule_index];
    d_by_stream[e.stream] = c.id;
    const auto limit = std::chrono::seconds(q->connect_limit_s.value_or(30));
    c.connect_by = d_now + limit + connect_grace;
    action& a = act(action::kind::connect, c);
    a.to = c.to;
    a.source = c.source;
    a.tls = c.tls;
    a.time_limit = limit;
}

void proxy::impl::on_answer(connection& c, const slep::event& e)
{
    const auto answer = decode_answer(e.data.data(), e.data.size());
    if (!answer || answer->code != status::connected) {
        ++d_stats.failed;
        drop(c, uint8_t(status::malformed_request), status::malformed_request);
        return;
    }
    ++d_stats.connected;
    c.state = phase::open;
    action& a = act(action::kind::connected, c);
    a.actual = answer->actual;
    a.alpn = answer->alpn;
    if (c.tls && a.alpn.empty() && c.tls->alpn.size() == 1)
        a.alpn = c.tls->alpn[0];
    grant(c);
}

} // namespace gr::hf::hfpep
