/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/peers.h"
#include "slep/sis_client.h"
#include "slep/u_pdu_ledger.h"

namespace gr::hf::slep {

//! SIS and CAS headers below each U_PDU (A.3, B.3), octets.
constexpr size_t below_u_pdu = 4;

//! What a U_PDU in SIS belongs to.
struct owner {
    enum class kind { data, window, control, notice, datagram } what = kind::data;
    uint64_t id = 0;     //!< stream, control PDU or datagram
    uint64_t number = 0; //!< PDU or part
    //! Order of service. Those without a stream are few and stand in nobody's way.
    uint8_t level = levels - 1;
    uint8_t priority = 0; //!< of the stream, before anything is added
};

//! A U_PDU in SIS that waits for its confirm or reject.
struct in_sis {
    owner who;
    peer_state* p = nullptr;
    bool dead = false; //!< its stream was given up
};

/*! \brief The connection to SIS and the U_PDUs that it holds: how much more it may have for each
 *         node, and what its confirms and rejects belong to.
 *
 *  SIS cannot be asked for anything back, and what it holds is sent before what comes later of
 *  the same priority. So it gets as much as keeps the link at work, and no more.
 */
class sis_queue
{
public:
    //! A U_PDU that SIS is done with.
    using entry = s5066::u_pdu_ledger<in_sis>::entry;

    explicit sis_queue(endpoint_context& c);

    //! Binding and flow control.
    s5066::sis_client& client() { return d_client; }
    const s5066::sis_client& client() const { return d_client; }

    //! The longest U_PDU that fills whole segments of the link, octets.
    size_t u_pdu_octets() const;
    //! There is room in SIS for one more U_PDU of \p level; if not, the node remembers it.
    bool may_send(node_state& n, uint8_t level) const;
    //! The S_primitive that gives \p wire to SIS, to be confirmed by the far node.
    octets send(peer_state& p, octets wire, uint8_t priority, owner who);
    //! The same for the restart notice.
    octets send_notice(peer_state& p);

    //! SIS is done with a U_PDU, named by its first octets; empty: with none that is known.
    std::optional<entry>
    settled(const s5066::address& node, uint8_t sap, const octets& head, bool rejected);
    //! The oldest will never be settled, and counts as rejected.
    std::optional<entry> give_up_oldest();
    //! The same if it was given to SIS so long ago that the answer must be lost.
    std::optional<entry> give_up_overdue();
    //! The data of a stream in SIS is of no use any more, and taken back if the node lets us.
    void stream_gone(stream_id s);
    //! The node takes withdrawals.
    void allow_withdrawals(bool on) { d_withdrawals_allowed = on; }
    //! Next withdrawal for the node, as a primitive.
    std::optional<octets> poll_withdrawal();
    //! SIS holds U_PDUs for the peer.
    bool holds_for(const peer_state& p) const;
    //! When give_up_overdue() has something.
    std::optional<station_time> next_deadline() const;

private:
    size_t depth_of(const node_state& n) const;
    void release(const entry& e, bool rejected);

    endpoint_context& d_ctx;
    s5066::sis_client d_client;
    s5066::u_pdu_ledger<in_sis> d_held;
    bool d_withdrawals_allowed = false;
    std::deque<octets> d_withdrawals;
};

//! The first octets of a stream, or after a pause, that go ahead of the bulk of its class.
size_t fresh_octets(const endpoint_config& c);

} // namespace gr::hf::slep
