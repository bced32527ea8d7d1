/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/proxy.h"
#include "pep/proxy_impl.h"

#include <algorithm>

namespace gr::hf::hfpep {

proxy::proxy(const proxy_config& c) : d_impl(std::make_unique<impl>(c)) {}
proxy::~proxy() = default;

void proxy::sis_in(station_time now, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    d_impl->d_link.sis_in(now, p, n);
    d_impl->pump();
}

void proxy::sis_reset(station_time now)
{
    d_impl->d_now = now;
    d_impl->d_link.sis_reset(now);
    d_impl->pump();
}

std::optional<octets> proxy::poll_sis()
{
    auto out = d_impl->d_link.poll_sis();
    if (out)
        d_impl->grant_all();
    return out;
}

rule_action proxy::on_accept(station_time now,
                             connection_id conn,
                             const destination& to,
                             const endpoint_address& source,
                             std::optional<bool> late)
{
    d_impl->d_now = now;
    return d_impl->on_accept(conn, to, source, late);
}

status proxy::refusal() const { return d_impl->d_refusal; }

bool proxy::may_reach(connection_id conn, const ip::address& at, nearness where) const
{
    const connection* c = d_impl->find(conn);
    return c != nullptr &&
           permits_at(for_peer(d_impl->d_config.allow, c->far.node), c->to, at, where);
}

std::optional<endpoint_address> proxy::server_of(connection_id conn) const
{
    const connection* c = d_impl->find(conn);
    if (c == nullptr)
        return std::nullopt;
    return hfpep::server_of(for_peer(d_impl->d_config.allow, c->far.node), c->to);
}

rule_action proxy::judge(const destination& to, const endpoint_address& source) const
{
    return d_impl->judge(to, source).what;
}

proxy::tls_end proxy::tls_of(connection_id conn) const
{
    const connection* c = d_impl->find(conn);
    if (c == nullptr || !c->local || !c->tls)
        return tls_end::none;
    return c->how.late_accept ? tls_end::late : tls_end::early;
}

void proxy::on_tls_hello(station_time now, connection_id conn, const tls_request& r)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr || !c->tls || c->greeted)
        return;
    c->tls = r;
    c->greeted = true;
    if (c->state == phase::greeting)
        d_impl->begin(*c);
    d_impl->pump();
}

void proxy::on_tcp_cut(station_time now, connection_id conn)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr)
        return;
    d_impl->log("HF-PEP: " + c->to.to_string() +
                " has ended without close_notify; the end of its data is a reset");
    c->out.eof = c->out.cut = true;
    d_impl->d_cut.insert(conn);
    d_impl->pump();
}

void proxy::on_tcp_data(station_time now, connection_id conn, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    if (connection* c = d_impl->find(conn))
        d_impl->on_tcp_data(*c, p, n);
    d_impl->pump();
}

void proxy::on_tcp_eof(station_time now, connection_id conn)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr || c->out.eof)
        return;
    c->out.eof = true;
    c->last_use = now;
    if (c->state == phase::hold)
        d_impl->start(*c);
    else if (c->state != phase::waiting && c->out.held.empty())
        d_impl->d_link.finish(now, c->stream);
    d_impl->pump();
}

void proxy::on_tcp_error(station_time now, connection_id conn)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr)
        return;
    if (c->stream != 0)
        d_impl->d_link.abort(now, c->stream, uint8_t(status::reset_by_endpoint));
    ++d_impl->d_stats.reset;
    d_impl->forget(*c);
    d_impl->pump();
}

void proxy::on_connect_ok(station_time now,
                          connection_id conn,
                          const std::optional<endpoint_address>& actual,
                          const std::string& alpn)
{
    d_impl->d_now = now;
    if (connection* c = d_impl->find(conn))
        d_impl->on_connect_ok(*c, actual, alpn);
    d_impl->pump();
}

void proxy::on_connect_failed(station_time now, connection_id conn, status why)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr || c->state != phase::connecting)
        return;
    ++d_impl->d_stats.failed;
    const status reason = why == status::connected ? status::general_failure : why;
    d_impl->d_link.refuse(now, c->stream, uint8_t(reason));
    d_impl->forget(*c);
    d_impl->pump();
}

void proxy::on_tcp_written(station_time now, connection_id conn, size_t n)
{
    d_impl->d_now = now;
    connection* c = d_impl->find(conn);
    if (c == nullptr)
        return;
    n = std::min(n, c->in.unread);
    c->in.unread -= n;
    c->last_use = now;
    d_impl->d_link.consumed(now, c->stream, n);
    d_impl->pump();
}

void proxy::set_link_rate(double bits_per_second) { d_impl->d_rate = bits_per_second; }

void proxy::set_rules(std::vector<rule> rules)
{
    d_impl->d_config.rules = std::move(rules);
    for (auto& [id, c] : d_impl->d_connections)
        c.rule_index = find_rule(d_impl->d_config.rules,
                                 c.to,
                                 c.local ? c.source : std::nullopt,
                                 c.far.node,
                                 d_impl->d_rate);
    d_impl->release_waiting();
}

std::optional<action> proxy::poll_action()
{
    if (d_impl->d_actions.empty())
        return std::nullopt;
    action a = std::move(d_impl->d_actions.front());
    d_impl->d_actions.pop_front();
    return a;
}

void proxy::note(connection_id conn, const std::string& line)
{
    if (const connection* c = d_impl->find(conn))
        d_impl->log("HF-PEP: " + c->to.to_string() + ": " + line);
}

std::optional<std::string> proxy::poll_log()
{
    if (d_impl->d_log.empty())
        return std::nullopt;
    std::string line = std::move(d_impl->d_log.front());
    d_impl->d_log.pop_front();
    return line;
}

std::optional<station_time> proxy::next_deadline() const
{
    return d_impl->next_deadline();
}

void proxy::on_deadline(station_time now)
{
    d_impl->d_now = now;
    d_impl->on_deadline();
    d_impl->pump();
}

std::vector<connection_info> proxy::connections() const
{
    std::map<slep::stream_id, slep::stream_info> streams;
    for (const auto& s : d_impl->d_link.list())
        streams[s.id] = s;
    std::vector<connection_info> all;
    for (const auto& entry : d_impl->d_connections) {
        const connection& c = entry.second;
        connection_info i;
        i.id = c.id;
        i.local = c.local;
        i.state = c.name();
        i.to = c.to;
        i.source = c.source;
        i.far = c.far;
        i.since = c.since;
        i.octets_out = c.out.count;
        i.octets_in = c.in.count;
        i.waiting = c.out.held.size();
        i.unread = c.in.unread;
        const auto s = streams.find(c.stream);
        if (s != streams.end())
            i.waiting += s->second.waiting + s->second.unconfirmed;
        all.push_back(std::move(i));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.since < b.since;
    });
    return all;
}

const proxy_stats& proxy::stats() const { return d_impl->d_stats; }
const slep::endpoint& proxy::link() const { return d_impl->d_link; }
const proxy_config& proxy::config() const { return d_impl->d_config; }

} // namespace gr::hf::hfpep
