/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Data, events and ends of connections.
#include "pep/proxy_impl.h"

#include <algorithm>

namespace gr::hf::hfpep {

namespace {

// Credit is given in pieces of at least this size.
constexpr size_t grant_octets = 16384;

//! Status for the edge from a reason of SLEP.
status status_of(uint8_t code)
{
    switch (code) {
    case slep::reason_lifetime_over:
        return status::link_lost;
    case slep::reason_peer_restarted:
        return status::peer_restarted;
    case slep::reason_too_many_streams:
        return status::too_many_connections;
    case slep::reason_no_listener:
        return status::peer_not_allowed;
    default:
        return code > 0 && code <= uint8_t(status::certificate_refused)
                   ? static_cast<status>(code)
                   : status::general_failure;
    }
}

uint8_t dictionary_of(const connection& c)
{
    const bool web = c.tls && (c.tls->alpn.empty() || c.tls->alpn[0] == "http/1.1");
    return web ? uint8_t(slep::preset_http) : dictionary_for(c.to.port);
}

} // namespace

proxy::impl::impl(const proxy_config& c)
    : d_config(c), d_link((c.validate(), c.slep)), d_local_opens(c.opens),
      d_far_opens(c.opens), d_next_id(own_ids)
{
    for (const uint8_t e : c.extended)
        d_link.listen(e);
    if (std::any_of(c.allow.begin(), c.allow.end(), [](const reach& r) {
            return r.is_for_all();
        }))
        log("HF-PEP: allow has an entry for every address, and so for the private "
            "networks "
            "of this station; internet:PORTS is for public addresses only");
}

connection* proxy::impl::find(connection_id id)
{
    const auto it = d_connections.find(id);
    return it != d_connections.end() ? &it->second : nullptr;
}

connection* proxy::impl::by_stream(slep::stream_id s)
{
    const auto it = d_by_stream.find(s);
    return it != d_by_stream.end() ? find(it->second) : nullptr;
}

action& proxy::impl::act(action::kind what, const connection& c)
{
    d_actions.emplace_back();
    d_actions.back().what = what;
    d_actions.back().conn = c.id;
    return d_actions.back();
}

slep::stream_options proxy::impl::options_of(const connection& c) const
{
    slep::stream_options o;
    o.priority = c.how.priority;
    o.service_class = c.how.service_class;
    o.compress = compresses(c.how.compress, c.to.port, c.tls.has_value());
    o.dictionary = dictionary_of(c);
    o.outage_max = c.how.outage_max;
    return o;
}

size_t proxy::impl::hold_limit() const
{
    return std::min(d_config.slep.queue_octets, d_config.slep.send_buffer);
}

void proxy::impl::forget(connection& c)
{
    d_waiting -= c.state == phase::waiting;
    d_by_stream.erase(c.stream);
    d_contacts.erase(c.id);
    d_cut.erase(c.id);
    const auto with = d_with_peer.find(c.far.node);
    if (--with->second == 0)
        d_with_peer.erase(with);
    d_connections.erase(c.id);
}

void proxy::impl::drop(connection& c, uint8_t slep_code, status why)
{
    if (c.stream != 0 && slep_code != 0)
        d_link.abort(d_now, c.stream, slep_code);
    act(action::kind::reset, c).why = why;
    ++d_stats.reset;
    forget(c);
}

void proxy::impl::grant(connection& c)
{
    if (c.state == phase::connecting || c.state == phase::waiting ||
        c.state == phase::greeting)
        return;
    if (c.state != phase::hold && !c.out.held.empty()) {
        const size_t n =
            d_link.write(d_now, c.stream, c.out.held.data(), c.out.held.size(), false);
        c.out.held.erase(c.out.held.begin(), c.out.held.begin() + static_cast<long>(n));
        if (!c.out.held.empty())
            return;
        if (c.out.eof && !c.out.cut)
            d_link.finish(d_now, c.stream);
    }
    if (c.out.eof || (c.how.late_accept && c.state == phase::opening))
        return;
    const size_t room = c.state == phase::hold ? hold_limit() - c.out.held.size()
                                               : d_link.writable(c.stream);
    if (room < c.out.granted + std::min(grant_octets, d_config.slep.send_buffer / 4))
        return; // give credit seldom and in large pieces
    const size_t more = room - c.out.granted;
    c.out.granted += more;
    act(action::kind::read_more, c).octets_allowed = more;
}

void proxy::impl::grant_all()
{
    for (auto& c : d_connections)
        grant(c.second);
}

void proxy::impl::on_tcp_data(connection& c, const uint8_t* p, size_t n)
{
    if (n > c.out.granted || c.out.eof) {
        ++d_stats.credit_violations;
        drop(c, uint8_t(status::general_failure), status::general_failure);
        return;
    }
    c.out.granted -= n;
    c.last_use = d_now;
    c.out.count += n;
    d_stats.octets_out += n;
    if (c.state != phase::hold) {
        // Credit was given for free room. Only a compressor can have used some of it
        // since. Octets that do not fit wait here.
        const size_t taken =
            c.out.held.empty() ? d_link.write(d_now, c.stream, p, n, false) : 0;
        c.out.held.insert(c.out.held.end(), p + taken, p + n);
        return;
    }
    c.out.held.insert(c.out.held.end(), p, p + n);
    c.start_at = std::min(c.since + d_config.hold_max, d_now + d_config.hold_gap);
    if (c.out.held.size() >= hold_limit())
        start(c);
}

void proxy::impl::pump()
{
    while (auto e = d_link.poll_event())
        on_event(std::move(*e));
    check_contacts();
    check_cut();
    release_waiting();
}

void proxy::impl::check_cut()
{
    if (d_cut.empty())
        return;
    std::set<slep::stream_id> busy;
    for (const auto& s : d_link.list())
        if (!s.sent_all)
            busy.insert(s.id);
    const std::vector<connection_id> ids(d_cut.begin(), d_cut.end());
    for (const connection_id id : ids) {
        connection& c = *find(id);
        if (!c.out.held.empty() || busy.count(c.stream) != 0)
            continue;
        d_link.abort(d_now, c.stream, uint8_t(status::reset_by_endpoint));
        ++d_stats.reset;
        forget(c);
    }
}

void proxy::impl::on_refused(connection& c, uint8_t code)
{
    const status why = status_of(code);
    if (c.tls)
        log("HF-PEP: no TLS with " + c.to.to_string() + " at " + c.far.node.to_string() +
            ": " +
            (why == status::kind_not_supported ? "that station does not have TLS apart"
                                               : to_string(why)));
    ++d_stats.failed;
    drop(c, 0, why);
}

void proxy::impl::on_event(slep::event e)
{
    using type = slep::event::type;
    if (e.what == type::open) {
        on_request(e);
        return;
    }
    connection* c = by_stream(e.stream);
    if (c == nullptr)
        return;
    c->last_use = d_now;
    switch (e.what) {
    case type::opened:
        on_answer(*c, e);
        break;
    case type::refused:
        on_refused(*c, e.code);
        break;
    case type::data: {
        c->in.unread += e.data.size();
        c->in.count += e.data.size();
        d_stats.octets_in += e.data.size();
        act(action::kind::write, *c).data = std::move(e.data);
        break;
    }
    case type::fin:
        c->in.eof = true;
        act(action::kind::shutdown_write, *c);
        break;
    case type::closed:
        act(action::kind::close, *c);
        ++d_stats.closed;
        forget(*c);
        break;
    case type::aborted:
        drop(*c, 0, status_of(e.code));
        break;
    case type::writable:
        grant(*c);
        break;
    case type::open:
    case type::datagram:
    case type::datagram_done:
        break;
    }
}

} // namespace gr::hf::hfpep
