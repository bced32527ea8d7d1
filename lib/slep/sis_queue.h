/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/peers.h"
#include "slep/sis_client.h"
#include "slep/u_pdu_ledger.h"

namespace gr::hf::slep {

//! SIS and CAS headers below each U_PDU (A.3, B.3), octets.
constexpr size_t below_u_pdu = 4;

//! A U_PDU that SIS has not settled by then counts as rejected. SIS should have answered
//! long before.
constexpr station_time confirm_wait = std::chrono::hours(1);

//! Owner of a U_PDU in SIS.
struct owner {
    enum class kind { data, window, control, notice, datagram } what = kind::data;
    uint64_t id = 0;     //!< stream, control PDU or datagram
    uint64_t number = 0; //!< PDU or part
    //! Order of service. U_PDUs without a stream are few and delay nothing.
    uint8_t level = levels - 1;
    uint8_t priority = 0; //!< priority of the stream, before any increase
};

//! A U_PDU in SIS that waits for its confirm or reject.
struct in_sis {
    owner who;
    peer_state* p = nullptr;
    bool dead = false; //!< its stream has ended
};

/*! \brief The connection to SIS and the U_PDUs in SIS. It limits them for each node, and
 *         finds the owner of each confirm and reject.
 *
 * U_PDUs in SIS cannot be taken back, and are sent before later ones of the same
 * priority. So SIS gets only as much as keeps the link at work.
 */
class sis_queue
{
public:
    //! A settled U_PDU.
    using entry = s5066::u_pdu_ledger<in_sis>::entry;

    explicit sis_queue(endpoint_context& c);

    //! Binding and flow control.
    s5066::sis_client& client() { return d_client; }
    const s5066::sis_client& client() const { return d_client; }

    //! Octets of a C_PDU besides the U_PDU. A node that proves who sent a U_PDU adds a
    //! trailer, and its MTU is shorter by the trailer.
    size_t added_octets() const;
    //! The longest U_PDU that fills whole segments of the link, octets.
    size_t u_pdu_octets() const;
    //! True if SIS has room for one more U_PDU of \p level. If not, \p n notes that it waits.
    bool may_send(node_state& n, uint8_t level) const;
    //! Returns the S_primitive that passes \p wire to SIS, to be confirmed by the far
    //! node.
    octets send(peer_state& p, octets wire, uint8_t priority, owner who);
    //! Returns the S_primitive of the restart notice.
    octets send_notice(peer_state& p);

    //! SIS has settled the U_PDU that starts with \p head. Empty: no such U_PDU.
    std::optional<entry>
    settled(const s5066::address& node, uint8_t sap, const octets& head, bool rejected);
    //! Drops the oldest U_PDU, which will never be settled. It counts as rejected.
    std::optional<entry> give_up_oldest();
    //! Drops the oldest U_PDU if it is so old that its answer must be lost.
    std::optional<entry> give_up_overdue();
    //! The stream has ended. Its data in SIS is withdrawn if the node allows it.
    void stream_gone(stream_id s);
    //! The node accepts withdrawals.
    void allow_withdrawals(bool on) { d_withdrawals_allowed = on; }
    //! Next withdrawal for the node, as a primitive.
    std::optional<octets> poll_withdrawal();
    //! SIS holds U_PDUs for the peer.
    bool holds_for(const peer_state& p) const;
    //! Time of the next give_up_overdue().
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

//! Octets at the start of a stream, or after a pause, that are sent before the bulk of
//! its class.
size_t fresh_octets(const endpoint_config& c);

} // namespace gr::hf::slep
