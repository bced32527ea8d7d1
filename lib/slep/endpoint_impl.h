/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/datagrams.h"
#include "slep/endpoint.h"
#include "slep/sis_client.h"
#include "slep/stream.h"
#include "slep/u_pdu_ledger.h"

#include <bitset>
#include <deque>
#include <map>
#include <unordered_map>

/*! \file
 *  Inside of the endpoint. endpoint.cc is the public face, endpoint_user.cc has the calls of
 *  the user, endpoint_timers.cc the timers, endpoint_rx.cc what comes from SIS,
 *  endpoint_streams.cc the stream PDUs in it and endpoint_tx.cc what goes to SIS.
 */
namespace gr::hf::slep {

//! Order of service: by class, and within a class what is new or small ahead of bulk.
constexpr size_t levels = 16;
inline uint8_t level(uint8_t service_class, bool fresh)
{
    return static_cast<uint8_t>(2 * service_class + (fresh ? 0 : 1));
}

//! What SLEP knows about one node: how much SIS holds for it and whether it is reachable.
struct node_state {
    size_t outstanding = 0;                      // octets, with an allowance per U_PDU
    std::array<size_t, levels> outstanding_of{}; // the same by level()
    size_t dead = 0;                             // of outstanding: its stream is gone
    // What the link takes in one transmission, from confirms that come together.
    size_t burst = 0;
    sim_time burst_at{ -1 };
    bool held_back = false;   // since the last of them octets waited for room in SIS
    bool limited = false;     // held_back before these
    size_t depth = SIZE_MAX;  // octets that SIS may hold, at most queue_octets
    sim_time retry_at{};      // nothing is sent before it
    int rejects_in_a_row = 0; // place in the list of back-off times
    sim_time alive_at{ -1 };  // last confirm, or last time it was heard
    sim_time heard_at{ -1 };
    bool heard() const { return alive_at >= sim_time(0); }
    bool may_send(sim_time now) const { return retry_at <= now; }
    //! The link to it failed: what was rejected waits.
    void link_failed(sim_time now);
    //! The link to it works, or is worth another attempt at once.
    void link_alive(sim_time now);
    //! A U_PDU of so many octets, with its allowance, was confirmed: learns depth.
    void learn_depth(sim_time now, size_t octets);
};

//! Early data of a stream whose SO has not come yet.
struct orphan {
    sim_time since{};
    std::vector<stream_data> pdus;
    size_t size = 0;
};

//! How the streams of one number rest after their end.
struct resting {
    sim_time until{};   // 0: the number is free
    uint8_t answer = 0; // reason to repeat if the peer still sends; 0: silence
    sim_time answered{ -1 };
    uint16_t open = 0; // incarnation::name; 0: not known
};

constexpr size_t stream_numbers = 128;
enum side : size_t { opened_here = 0, opened_there = 1 };

//! One SLEP user elsewhere: node, SAP, extended address.
struct peer_state {
    explicit peer_state(size_t datagram_octets) : datagrams(datagram_octets) {}
    peer who;
    node_state* node = nullptr;
    // Restart notice: needed before the first PDU, unless the peer has just sent one.
    enum class notice { due, in_sis, done } notice = notice::due;
    bool notice_wanted = false; // even if there is nothing else to send
    uint16_t instance = 0;      // of the peer, from its last notice
    uint8_t next_number = 0;
    uint16_t next_datagram = 0;
    std::array<std::array<stream_id, stream_numbers>, 2> streams{}; // 0: none
    std::array<std::array<resting, stream_numbers>, 2> rest{};
    std::array<uint8_t, stream_numbers> uses{}; // of the numbers opened here
    size_t stream_count = 0;
    std::map<uint8_t, orphan> orphans;
    datagram_assembler datagrams;
    sim_time used_at{};
    resting& rest_of(uint8_t sid)
    {
        return rest[sid & sid_responder ? opened_here : opened_there][sid & 0x7f];
    }
};

enum class stream_state { opening, offered, open };

struct stream {
    stream(const endpoint_config& c, const stream_options& o);
    stream_id id = 0;
    peer_state* p = nullptr;
    uint8_t number = 0;
    uint8_t use = 0; // opener: of this number before
    bool opener = false;
    stream_state state = stream_state::opening;
    stream_options options;
    octets open_data; // of SO or SR, until it is built
    stream_sender tx;
    stream_receiver rx;
    // Of the two directions. The opener learns the other one from SR; what comes before it
    // waits in early.
    incarnation out, in;
    bool in_known = true;
    orphan early;
    bool end_confirmed = false; // the peer's user has all of our direction
    bool end_shown = false;     // and the peer has said so with its own end
    bool end_told = false;      // the peer knows that our user has all of the other
    bool in_ring = false;
    long deficit = 0; // of the round robin, octets
    size_t burst = 0; // octets of PDUs built since nothing was under way
    bool want_writable = false;
    std::optional<sim_time> accept_at; // SR leaves at the latest
    std::optional<sim_time> answer_by; // SR has to come
    std::optional<sim_time> probe_at;  // ask whether the peer knows the stream
    std::optional<sim_time> gap_since;
    std::optional<sim_time> stalled_since; // first reject of a PDU, no confirm after it
    sim_time life_at{};      // last sign that the peer is there: a PDU of it, a confirm
    bool life_asked = false; // since then
    uint64_t gap_at = 0;
    // Own receive window: what the peer was told, or is being told by an SC in SIS.
    bool shut = false;
    bool control_due = false;
    bool control_ask = false;
    bool control_in_sis = false;
    std::optional<sim_time> ask_window_at; // the peer's window stays shut
    uint64_t octets_sent = 0, octets_received = 0;
    uint8_t sid() const
    {
        return static_cast<uint8_t>(number | (opener ? 0 : sid_responder));
    }
    side which() const { return opener ? opened_here : opened_there; }
    uint16_t open_name() const { return opener ? out.name() : in.name(); }
    // The peer's user has to be asked whether all of a direction arrived.
    bool confirms_end() const { return in.used && out.used && !options.one_way; }
    // The peer may hold our end back from its user until it hears this.
    bool will_owe_end() const { return confirms_end() && !end_told && !end_shown; }
    bool owes_end() const { return will_owe_end() && tx.fin_built() && rx.complete(); }
    // Nothing of ours is under way that would show whether the peer is still there.
    bool only_waits() const
    {
        return state == stream_state::open && tx.next_number() > 0 &&
               tx.unconfirmed() == 0 && !control_in_sis && !life_asked;
    }
    void alive(sim_time now)
    {
        life_at = now;
        life_asked = false;
    }
    //! SIS is done with data PDU \p number; until \p answer_until an SR has to come.
    void
    data_settled(sim_time now, uint64_t number, bool rejected, sim_time answer_until);
    //! SIS is done with an SC.
    void window_settled(sim_time now, bool rejected);

private:
    void stalled(sim_time now)
    {
        if (!stalled_since)
            stalled_since = now;
    }
    void went_through(sim_time now)
    {
        stalled_since.reset();
        alive(now);
    }
};

//! What a U_PDU in SIS belongs to.
struct owner {
    enum class kind { data, window, control, notice, datagram } what = kind::data;
    uint64_t id = 0;     // stream, control or datagram
    uint64_t number = 0; // PDU or part
    // Those without a stream are few and stand in nobody's way.
    uint8_t level = levels - 1;
};

//! A U_PDU in SIS that waits for its confirm or reject.
struct in_sis {
    owner who;
    peer_state* p = nullptr;
    bool dead = false; // its stream was given up
};
using ledger = s5066::u_pdu_ledger<in_sis>;

//! A PDU without a stream of its own: SX, refusal, RA.
struct control_pdu {
    peer_state* p;
    octets wire;
    uint8_t priority;
    sim_time expires;
};

class endpoint::impl
{
public:
    explicit impl(const endpoint_config& c);

    // endpoint_user.cc, endpoint_timers.cc
    std::optional<stream_id> open(const peer& to,
                                  const octets& open_data,
                                  const octets& data,
                                  bool fin,
                                  const stream_options& o);
    void accept(stream& s, const octets& open_data, const stream_options& o);
    void refuse(stream& s, uint8_t code, const std::string& text);
    void abort(stream& s, uint8_t code);
    bool send_unreliable(const peer& to, const octets& data, uint8_t priority, bool arq);
    std::optional<stream_id>
    send_confirmed(const peer& to, const octets& data, uint8_t priority, sim_time ttl);
    std::optional<stream_id>
    send_reliable(const peer& to, const octets& data, uint8_t priority);
    void deliver(stream& s);
    std::optional<sim_time> next_deadline() const;
    void on_deadline();
    stream* find(stream_id id);
    stream& add_stream(peer_state& p, side who, uint8_t number, const stream_options& o);

    // endpoint_rx.cc: from SIS
    void sis_in(const uint8_t* p, size_t n);
    void lost_sis();

    // endpoint_tx.cc: to SIS
    std::optional<octets> poll_sis();
    void make_ready(stream& s);

    endpoint_config d_config;
    s5066::sis_client d_sis;
    sim_time d_now{};
    endpoint_stats d_stats;
    std::bitset<256> d_listening;
    std::deque<event> d_events;
    std::map<s5066::address, node_state> d_nodes;
    std::map<peer, peer_state> d_peers;
    std::map<stream_id, stream> d_streams;
    ledger d_outstanding;

private:
    // endpoint_user.cc, endpoint_timers.cc
    peer_state* peer_of(const peer& who, bool make);
    bool forget_one_peer();
    void tell(event::type t, const stream& s, octets data = {}, uint8_t code = 0);
    void end(stream& s, uint8_t rest_answer);
    void fail(stream& s, uint8_t code, bool tell_peer);
    void end_if_done(stream& s);
    void update_window(stream& s);
    void
    send_abort(peer_state& p, uint8_t sid, uint8_t code, uint8_t priority, uint16_t mark);
    void control(peer_state& p, const pdu& body, uint8_t priority);
    void datagram_over(std::map<uint64_t, outgoing_datagram>::iterator it, uint8_t code);
    outgoing_datagram one_part(const peer& to, const octets& data, uint8_t priority);
    bool queue_datagram(outgoing_datagram d);
    template <typename F>
    void each_deadline(F f) const;
    sim_time outage_end(const stream& s) const;
    void check_stream(stream& s);
    void ask_life(const node_state& n);
    void check_peer(peer_state& p);

    // endpoint_rx.cc, endpoint_streams.cc
    void indication(const s5066::s_unidata_indication& u);
    void settled(const s5066::address& node,
                 uint8_t sap,
                 const octets& head,
                 std::optional<uint8_t> reject_reason);
    void settle(const ledger::entry& o, std::optional<uint8_t> reject_reason);
    void on_pdu(peer_state& p, unreliable_datagram d, const s5066::s_unidata_indication&);
    void on_pdu(peer_state& p, reliable_datagram d, uint8_t priority);
    void on_pdu(peer_state& p, const datagram_answer& d);
    void on_pdu(peer_state& p, stream_open d, uint8_t priority);
    void on_pdu(peer_state& p, stream_accept d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_refuse& d);
    void on_pdu(peer_state& p, stream_data d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_control& d, uint8_t priority);
    void on_pdu(peer_state& p, const stream_abort& d);
    void receive(stream& s, stream_data d);
    void receive_first(stream& s, octets data, bool fin);
    void receive_early(stream_id id, std::vector<stream_data> pdus);
    void keep(orphan& o, stream_data d);
    void refuse_open(peer_state& p, const stream_open& d, uint8_t code, uint8_t priority);
    void unknown_stream(peer_state& p, uint8_t sid, uint8_t priority, uint16_t mark);
    void peer_restarted(peer_state& p, uint16_t instance);
    stream* by_sid(peer_state& p, uint8_t sid);

    // endpoint_tx.cc
    bool has_work(const stream& s) const;
    bool open_due(const stream& s) const;
    bool may_send(node_state& n, uint8_t level) const;
    size_t fresh_octets() const;
    bool is_fresh(const stream& s) const;
    uint8_t level_of(const stream& s) const;
    uint8_t priority_of(const stream& s, bool asks) const;
    size_t depth_of(const node_state& n) const;
    size_t u_pdu_octets() const;
    std::optional<octets> send(peer_state& p, octets wire, uint8_t priority, owner who);
    std::optional<octets> send_notice(peer_state& p);
    std::optional<octets> poll_control();
    std::optional<octets> poll_datagram(uint8_t service_class);
    std::optional<octets> poll_stream(uint8_t service_class, bool fresh);
    std::optional<octets> next_of(stream& s);
    octets build(stream& s, size_t size);

    stream_id d_next_id = 1;
    std::deque<std::pair<uint64_t, control_pdu>> d_control; // waits for SIS
    std::unordered_map<uint64_t, control_pdu> d_control_in_sis;
    std::map<uint64_t, outgoing_datagram> d_datagrams;
    size_t d_datagram_octets = 0;  // in d_datagrams
    size_t d_datagrams_unread = 0; // octets in d_events
    std::array<std::deque<stream_id>, 8> d_ring;

    friend class endpoint;
};

} // namespace gr::hf::slep
