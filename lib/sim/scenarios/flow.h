/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/scenarios/scenario.h"
#include "sim/stations/traffic.h"

namespace gr::hf::sim {

//! One flow of a scenario: its clients at both ends, and its counters.
class flow
{
public:
    //! A receiving station, and the SAP that is free there.
    struct end {
        station* at = nullptr;
        uint8_t sap = 0;
    };
    /*! \param to every receiver; they all use the same SAP
     *  \param dst destination address of the U_PDUs
     */
    flow(scheduler& s,
         const scenario_traffic& t,
         const end& from,
         const std::vector<end>& to,
         s5066::address dst,
         uint64_t seed);
    /*! \brief Records the fate of each U_PDU from now on.
     *  \param index of this flow
     *  \param receivers their names, in the order of \p to
     */
    void keep_fates(size_t index, const std::vector<std::string>& receivers);
    const fate_book& fates() const { return d_fates; }

    //! Station \p at has forgotten its clients.
    void rebind(const station* at);
    //! No delivery is outstanding.
    bool complete() const;
    bool finite() const;
    flow_result result() const;
    //! Called with the octets of each U_PDU delivered for the first time.
    std::function<void(size_t)> on_delivery;

private:
    void start();
    void send_next();
    void
    on_u_pdu(station_time now, size_t receiver, const s5066::s_unidata_indication& i);
    void on_answer(station_time now, const s5066::s_unidata_indication& i);
    void after(double seconds);
    bool over() const;
    double uniform();
    u_pdu_fate submission(bool answer, uint32_t number, size_t octets) const;
    void note_delivery(bool answer, uint32_t number, size_t receiver);

    scheduler& d_scheduler;
    const scenario_traffic d_traffic;
    s5066::address d_dst;
    std::mt19937_64 d_random;
    const end d_from;
    const std::vector<end> d_to;
    bulk_source d_source;
    std::vector<std::unique_ptr<bulk_sink>> d_sinks;
    std::optional<size_t> d_index; // if fates are kept
    fate_book d_fates;
    std::map<uint32_t, station_time> d_sent; // submission time of a U_PDU, by its number
    std::vector<double> d_times;
    uint64_t d_count = 0; // messages submitted
    uint64_t d_octets = 0;
    uint64_t d_unanswered = 0;
    uint32_t d_awaited = 0; // ping: number of the pending request
    bool d_waiting = false;
    uint64_t d_wake = 0;
    station_time d_last{};
};

} // namespace gr::hf::sim
