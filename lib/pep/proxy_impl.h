/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/proxy.h"
#include "pep/rules.h"

#include <deque>
#include <map>
#include <set>

/*! \file Inside of the engine: proxy.cc has the public calls, proxy_timers.cc the timers,
 *  proxy_impl.cc the rest.
 */
namespace gr::hf::hfpep {

enum class phase {
    waiting,    // accepted, but not read, because its rule has no room yet
    greeting,   // waits for the first message of the program's TLS session
    hold,       // waits for first data of the local application
    opening,    // the stream is open here, the far side has not answered
    connecting, // requested by the peer, local connect runs
    open
};

struct connection {
    connection_id id = 0;
    bool local = false;
    phase state = phase::hold;
    destination to;
    std::optional<endpoint_address> source;
    slep::user_address far;
    rule how;
    std::optional<size_t> rule_index;
    slep::stream_id stream = 0; // 0: none
    bool by_name = false;
    std::optional<tls_request> tls; // TLS apart
    bool greeted = false;           // tls is complete
    station_time since{};
    station_time last_use{};
    std::optional<station_time> start_at; // end of the hold time
    // Deadline for the edge's answer to a connect. Local: for room in the rule, or for
    // the program's first message of TLS.
    std::optional<station_time> connect_by;
    // The far node was never heard: start of the call, and its failures before it.
    std::optional<station_time> contact_from;
    int failures_before = 0;
    //! From the local application to the far one.
    struct outward {
        octets held;        // not in the stream yet
        bool eof = false;   // the application has ended its data
        bool cut = false;   // it may be cut: a reset follows when the peer has it all
        size_t granted = 0; // octets that the edge may still deliver
        uint64_t count = 0; // octets delivered
    } out;
    //! From the far application to the local one.
    struct inward {
        bool eof = false;   // the far application has ended its data
        size_t unread = 0;  // octets passed to the edge, not yet written
        uint64_t count = 0; // octets passed
    } in;

    const char* name() const
    {
        switch (state) {
        case phase::waiting:
            return "waiting";
        case phase::greeting:
            return "greeting";
        case phase::hold:
            return "hold";
        case phase::opening:
            return "opening";
        case phase::connecting:
            return "connecting";
        case phase::open:
            break;
        }
        return out.eof ? "half closed here" : in.eof ? "half closed there" : "open";
    }
};

class proxy::impl
{
public:
    // Connections that the peer requested have numbers from here on.
    static constexpr connection_id own_ids = connection_id(1) << 63;

    explicit impl(const proxy_config& c);

    struct judged {
        rule_action what;
        const stream_route* via = nullptr;
        std::optional<size_t> rule_index;
        bool wait = false;                     // wait for room in the rule
        status why = status::connected;        // reason of a refusal
        uint64_t proxy_stats::*over = nullptr; // counter of the limit that refuses
    };
    judged judge(const destination& to, const endpoint_address& source) const;
    rule_action on_accept(connection_id id,
                          const destination& to,
                          const endpoint_address& source,
                          std::optional<bool> late);
    void on_tcp_data(connection& c, const uint8_t* p, size_t n);
    void on_connect_ok(connection& c,
                       const std::optional<endpoint_address>& actual,
                       const std::string& alpn);
    void on_deadline();
    std::optional<station_time> next_deadline() const;
    connection* find(connection_id id);
    void start(connection& c);
    void forget(connection& c);
    void begin(connection& c);
    // Counter of the limit that forbids one more connection with the node. Null: none.
    uint64_t proxy_stats::*over_limit(const s5066::address& node) const;
    // Ends a connection that can make room for one of source.
    bool make_room(const ip::address& source);
    connection& add(connection_id id, const slep::user_address& far);
    size_t carried_by(size_t rule_index) const;
    // Octets of all connections under way to a node.
    size_t load(const s5066::address& node) const;
    // Whether a rule permits one more local connection with a node.
    bool has_room(size_t rule_index, const s5066::address& node) const;
    // Whether a node has as many connections here as a rule permits.
    bool is_full_for(const std::optional<size_t>& rule_index,
                     const s5066::address& node) const;
    void release_waiting();
    void drop(connection& c, uint8_t slep_code, status why);
    void pump();
    void grant(connection& c);
    void grant_all();
    void log(std::string line);

    proxy_config d_config;
    slep::endpoint d_link;
    station_time d_now{};
    double d_rate = 0;
    proxy_stats d_stats;
    status d_refusal = status::connected; // result of the last on_accept()
    open_limiter d_local_opens, d_far_opens;
    std::map<connection_id, connection> d_connections;
    std::map<slep::stream_id, connection_id> d_by_stream;
    std::map<s5066::address, size_t> d_with_peer; // connections by peer, without zeros
    std::deque<action> d_actions;
    std::deque<std::string> d_log; // at most log_max lines
    std::set<connection_id> d_cut; // connections with cut

private:
    action& act(action::kind what, const connection& c);
    connection* by_stream(slep::stream_id s);
    slep::stream_options options_of(const connection& c) const;
    size_t hold_limit() const;
    void on_event(slep::event e);
    void on_request(const slep::event& e);
    void on_answer(connection& c, const slep::event& e);
    void check_contacts();
    void check_cut();
    void on_refused(connection& c, uint8_t code);
    void give_up(connection& c);
    connection_id d_next_id;
    size_t d_waiting = 0;               // connections in phase::waiting
    std::set<connection_id> d_contacts; // connections with contact_from
};

} // namespace gr::hf::hfpep
