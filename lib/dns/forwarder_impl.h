/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "dns/forwarder.h"

#include <deque>
#include <map>

/*! \file Inside of the engine: forwarder.cc has the public calls and the settings,
 *  forwarder_near.cc the side of the clients, forwarder_far.cc that of the far resolver,
 *  forwarder_impl.cc both.
 */
namespace gr::hf::dns {

//! A question on its way over HF.
struct pending {
    uint64_t number = 0;
    question ask; // type A for kind::both
    kind what = kind::both;
    s5066::address node;
    uint8_t transaction = 0;
    slep::stream_id datagram = 0;
    station_time give_up{};
    struct waiter {
        uint64_t client;
        query q;
        std::optional<station_time> stale_at; // the client then gets a stale answer from
                                              // the cache
    };
    std::vector<waiter> waiters;
};

//! A question of a peer.
struct served {
    slep::user_address from;
    uint8_t transaction = 0;
    kind what = kind::both;
    bool raw = false;
    question ask; // type A for kind::both
    station_time give_up{};
    size_t waiting = 0; // upstream questions without an answer
    std::vector<known> results;
};

class forwarder::impl
{
public:
    explicit impl(const forwarder_config& c);

    bool on_query(uint64_t client, const uint8_t* p, size_t n);
    void on_response(uint64_t id, const uint8_t* p, size_t n);
    void on_ask_failed(uint64_t id);
    void on_deadline();
    std::optional<station_time> next_deadline() const;
    void pump();

    forwarder_config d_config;
    slep::endpoint d_link;
    cache d_cache;
    forwarder_stats d_stats;
    std::deque<action> d_actions;
    station_time d_now{};

private:
    // Handling of clients.
    void reply(uint64_t client, octets message);
    octets reply_of(const query& q, const known& k, uint32_t ttl) const;
    std::optional<octets> answer_here(const query& q);
    bool answer_stale(const pending::waiter& w);
    bool ask_far(uint64_t client, const query& q);
    pending* find_pending(const question& ask);
    void give_up(std::map<uint64_t, pending>::iterator it);
    void answered(const s5066::address& node, const hf_answer& a);
    void answered(const s5066::address& node, const raw_answer& a);
    void finish(std::map<uint64_t, pending>::iterator it);
    std::map<uint64_t, pending>::iterator by_transaction(const s5066::address& node,
                                                         uint8_t transaction);
    // Handling of peers.
    void
    serve(const slep::user_address& from, uint8_t transaction, kind what, question ask);
    void resolved(uint64_t ask_id, known k);
    void answer_peer(const served& s);
    bool is_blocked(const std::string& name) const;

    std::map<uint64_t, pending> d_pending;
    std::map<uint64_t, served> d_served;
    struct ask {
        uint64_t served = 0;
        question what;
    };
    std::map<uint64_t, ask> d_asks;
    uint64_t d_next = 1;
    uint8_t d_next_transaction = 0;
};

//! Conversion between messages without id, as sent over HF, and with id 0.
octets without_id(octets message);
octets with_id(const octets& message);

//! Whether \p name is \p suffix or below it. "." matches every name.
bool below(const std::string& name, const std::string& suffix);

} // namespace gr::hf::dns
