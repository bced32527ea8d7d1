/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/station.h"

#include <deque>
#include <set>

namespace gr::hf::sim {

/*! \brief Client that sends numbered U_PDUs as fast as flow control lets it.
 *
 * Each U_PDU begins with its number (4 octets). The number determines the other octets,
 * so that the sink detects lost, repeated and altered U_PDUs.
 */
class bulk_source
{
public:
    //! \param at the sending station
    //! \param sap SAP to bind
    //! \param mode service of the U_PDUs
    //! \param dst_sap destination SAP; empty: the same
    bulk_source(scheduler& s,
                station& at,
                uint8_t sap,
                s5066::delivery_mode mode = s5066::delivery_mode(),
                std::optional<uint8_t> dst_sap = std::nullopt);

    /*! \brief Sends \p octets more octets in U_PDUs of \p size octets to \p to, after
     *         those that still wait for flow control.
     */
    void send(s5066::address to, size_t octets, size_t size);
    //! Binds again after a restart of the station. Octets already sent are not sent
    //! again.
    void rebind();

    //! Stop sending.
    void stop() { d_left.clear(); }

    uint32_t submitted() const { return d_count.submitted; }
    uint64_t octets() const { return d_count.octets; } //!< octets submitted
    bool drained() const { return d_left.empty(); }    //!< nothing waits for flow control
    uint64_t confirmed() const { return d_count.confirmed; }
    uint64_t rejected() const { return d_count.rejected; }
    bool bound() const { return d_bound; }
    station_time began() const { return d_began; }
    uint8_t priority = 0;
    uint32_t ttl = 0;
    bool expedited = false;

    //! The U_PDU with this number.
    static std::vector<uint8_t> u_pdu(uint32_t number, size_t size);
    //! The number of a U_PDU of at least 4 octets.
    static uint32_t number_of(const std::vector<uint8_t>& u_pdu);
    //! Gets indications for the source's SAP.
    std::function<void(station_time, const s5066::s_unidata_indication&)> on_indication;
    //! Called with the number and octets of each U_PDU passed to the node.
    std::function<void(uint32_t, size_t)> on_submit;
    //! Called with the node's answers to S_UNIDATA_REQUEST: confirmed, rejected.
    std::function<void(const s5066::s_primitive&)> on_report;

private:
    void on_primitive(station_time now, const s5066::s_primitive& p);
    void go();

    scheduler& d_scheduler;
    station& d_station;
    uint8_t d_sap;
    uint8_t d_dst_sap;
    s5066::delivery_mode d_mode;
    s5066::client_id d_client;
    bool d_bound = false;
    bool d_flow = true;
    struct batch {
        s5066::address to;
        size_t octets = 0; // not submitted yet
        size_t size = 0;   // of each U_PDU
    };
    std::deque<batch> d_left;
    //! U_PDUs up to now, and octets of those submitted.
    struct counts {
        uint32_t submitted = 0;
        uint64_t octets = 0;
        uint64_t confirmed = 0, rejected = 0;
    } d_count;
    station_time d_began{};
};

//! Client that receives U_PDUs of a bulk_source and checks them.
class bulk_sink
{
public:
    bulk_sink(scheduler& s, station& at, uint8_t sap);

    void rebind();
    uint64_t u_pdus() const { return d_u_pdus; } //!< number of different U_PDUs
    uint64_t octets() const { return d_octets; } //!< octets of different U_PDUs
    uint64_t repeated() const { return d_repeated; }
    uint64_t altered() const { return d_altered; }
    uint64_t out_of_order() const { return d_out_of_order; }
    station_time last() const { return d_last; }
    //! Forgets the numbers, for a second source that starts from 0.
    void forget() { d_seen.clear(); }
    //! Called with each unaltered U_PDU that arrived for the first time.
    std::function<void(station_time, const s5066::s_unidata_indication&)> on_new;
    //! Called with the number of each unaltered U_PDU, repeats included.
    std::function<void(uint32_t)> on_any;
    //! Called with the node's answers to send(): confirmed, rejected.
    std::function<void(const s5066::s_primitive&)> on_report;
    //! Sends a primitive from the sink's SAP.
    void send(const s5066::s_primitive& p) { d_station.send(d_client, p); }

private:
    void on_primitive(station_time now, const s5066::s_primitive& p);

    station& d_station;
    uint8_t d_sap;
    s5066::client_id d_client;
    std::set<std::pair<uint32_t, uint32_t>> d_seen; // pairs of source and number
    std::map<uint32_t, uint32_t> d_highest;         // keyed by source
    uint64_t d_u_pdus = 0;
    uint64_t d_octets = 0;
    uint64_t d_repeated = 0;
    uint64_t d_altered = 0;
    uint64_t d_out_of_order = 0;
    station_time d_last{};
};

} // namespace gr::hf::sim
