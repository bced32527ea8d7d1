/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/authenticator.h"
#include "s5066/between/link_report.h"
#include "s5066/between/queue_state.h"
#include "s5066/between/sis_lower.h"
#include "s5066/between/sis_upper.h"
#include "s5066/config/node_log.h"
#include "s5066/sis/sis_clients.h"
#include "s5066/words/timers.h"

#include <deque>
#include <list>

namespace gr::hf::s5066 {

/*! \brief U_PDUs of one node (A.3.2): requests of clients on their way down, indications
 *         on their way up, reports of their delivery, and flow control.
 */
class sis_delivery
{
public:
    //! All arguments must outlive this.
    sis_delivery(const node_config& config,
                 node_stats& stats,
                 node_log& log,
                 sis_lower& lower,
                 const hard_links& rules,
                 sis_clients& clients);

    // Calls of clients
    //! S_UNIDATA_REQUEST of \p k; \p broadcast: during a broadcast session.
    void request(station_time now, sis_client& k, s_unidata_request r, bool broadcast);
    //! A client withdraws U_PDUs with nothing sent yet.
    void withdraw(station_time now, client_id c, const withdrawal& w);
    //! The client is gone; confirmations for it are no longer awaited.
    void client_gone(client_id c);

    // Calls from the sublayers below
    //! A DATA S_PDU with \p header octets before its U_PDU.
    void on_data(station_time now, const s_pdu_origin& from, s_pdu s, size_t header);
    //! Handles S_PDU types 1 and 2, or that of S5066-EP9: the fate of a U_PDU.
    void on_delivery_report(station_time now, const s_pdu_origin& from, const s_pdu& s);
    //! See sis_upper.
    void on_delivered(station_time now, const outgoing& o);
    //! See sis_upper.
    bool on_failed(const outgoing& o, unidata_reject_reason why);

    //! The result of hard_links::allows() has changed: all C_PDUs not started are checked
    //! again.
    void rules_changed(station_time now);
    //! C_PDU octets that wait for the end of a hard link.
    size_t held_octets() const { return d_held_backlog.total(); }
    //! Adds the C_PDUs held back.
    void add_waiting(queue_states& all) const;

    /*! \brief High water mark in octets of unsent C_PDUs of all clients.
     *  \details Beyond it, clients whose own backlog reaches their equal share of the
     *         mark are stopped (S_DATA_FLOW_OFF). So no client is stopped for what others
     *         have sent, and one alone can use the whole mark.
     */
    void set_water_marks(size_t high);
    //! Stops or resumes clients by the state of their queues.
    void update_flow();
    //! True if no bound client is stopped.
    bool flow_on() const;

    //! Proofs of the senders of U_PDUs.
    authenticator& proofs() { return d_proofs; }
    const authenticator& proofs() const { return d_proofs; }

    void on_time(station_time now);
    std::optional<due> next_due() const;

private:
    // A pending client confirmation.
    struct confirm {
        outgoing_ptr o;
        // Set when the remote node has acknowledged it.
        std::optional<station_time> deadline;
    };

    std::optional<unidata_reject_reason>
    refusal(const s_unidata_request& r, const delivery_mode& mode, bool broadcast) const;
    void reject(client_id c, const s_unidata_request& r, unidata_reject_reason reason);
    void deliver_local(const sis_client& k, const s_unidata_request& r);
    outgoing_ptr make(station_time now,
                      const sis_client& k,
                      const delivery_mode& mode,
                      s_unidata_request& r);
    void dispatch(station_time now, outgoing_ptr o);
    void expire_held(station_time now);
    uint32_t new_id();
    void settle(const outgoing& o);
    station_time confirm_deadline(station_time now, const outgoing& o) const;
    void confirm_to_client(const outgoing& o);
    bool is_proved(station_time now, const s_pdu_origin& from, s_pdu& s);
    bool indicate(const s_pdu_origin& from, const s_pdu& s, size_t header);
    void answer(station_time now, const s_pdu_origin& from, const s_pdu& s, bool ok);
    int64_t utc(station_time t) const; // requires a known time
    backlog waiting() const;
    bool too_much(const backlog& all, uint8_t sap, size_t mark, size_t more) const;

    const node_config& d_config;
    node_stats& d_stats;
    node_log& d_log;
    sis_lower& d_lower;
    const hard_links& d_rules;
    sis_clients& d_clients;
    authenticator d_proofs;
    std::list<confirm> d_confirms;
    uint32_t d_next_id; // of S_PDUs with an ID
    // C_PDUs held back by a hard link.
    std::deque<outgoing_ptr> d_held;
    backlog d_held_backlog;
    size_t d_high = 65536;
    size_t d_low = 55000;
};

} // namespace gr::hf::s5066
