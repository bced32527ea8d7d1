/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/rx/block_order.h"
#include "s5066/dts/rx/code_ratios.h"
#include "s5066/dts/rx/lost_headers.h"
#include "s5066/pdu/deframer.h"
#include "waveform/timing.h"

#include <hf/modem_user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief The transmission being received, or the last one: its start and end, its
 *         D_PDUs, and its quality for the rate policy.
 */
class incoming_transmission
{
public:
    //! \param decode of the modem's code; without it soft bits are not used
    incoming_transmission(node_context& node,
                          channel_access& access,
                          code_decoder decode);

    void begin(station_time now, const rx_start& e);
    //! Takes decoded octets; next() returns the D_PDUs in them.
    void push(station_time now, const rx_octets& e);
    //! The next D_PDU between any stations. Unless \p over, more octets may follow.
    std::optional<received_d_pdu> next(station_time now, bool over);
    //! The reception is over. \return its end on the air
    station_time finish(station_time now, const rx_end& e);

    //! When a reception counts as over without an end from the modem, and why.
    struct overdue {
        station_time at{};
        const char* why = "";
    };
    /*! \brief The earliest limit, so that no reception lasts for ever:
     * - the end by the last EOT, plus the delay of receivers and the tolerance for other
     *   makers
     * - a modem that reports nothing more
     * - a signal longer than any transmission, without a readable D_PDU
     */
    overdue end_overdue() const;

    const gr::hf::mode& mode() const { return d_mode; }
    double snr_db() const { return d_quality.snr_db; }
    //! True if received_d_pdu::bit_offset counts all octets on the air before it.
    bool in_place() const { return d_order.in_place(); }
    //! Destination, if all D_PDUs read were for the same node.
    std::optional<address> only_to() const { return d_read.only_to; }
    //! True if it had data without ARQ for one node, and nothing else.
    bool non_arq_alone() const { return d_read.non_arq && !d_read.other; }
    /*! \brief Reports a transmission without a readable D_PDU to channel access.
     *  \param may_be_answer a station was due to answer us
     */
    void note_unread(bool may_be_answer);

    //! Reception report on \p p for the rate policy; call only if something of \p p was
    //! heard.
    reception heard_of(const peer& p) const;
    //! The same for a transmission without a readable D_PDU, if only one peer can have
    //! sent it.
    std::optional<std::pair<address, reception>> unread() const;

private:
    // Signal of the transmission, block by block.
    struct signal_quality {
        void add(const rx_octets& e);
        std::optional<double> mean_doppler_hz() const;

        double snr_db = 0;                                  // of the last block
        std::vector<double> block_snr_db, block_doppler_hz; // of all
        size_t octets = 0;
    };

    // Contents and stations of the D_PDUs read.
    struct d_pdus_read {
        void add(const d_pdu& d);

        bool non_arq = false;           // data without ARQ to one node
        bool other = false;             // anything else
        std::optional<address> from;    // of the last one
        std::optional<address> only_to; // if all were for the same node
    };

    void add(const rx_octets& e);
    std::optional<received_d_pdu> find(bool over);
    void note_eot(station_time now, const received_d_pdu& r);
    void note_turn(const d_pdu& d);

    node_context& d_node;
    channel_access& d_access;
    block_order d_order;
    code_ratios d_ratios;
    d_pdu_deframer d_deframer;
    lost_headers d_lost;
    uint64_t d_seen_false_syncs = 0;
    gr::hf::mode d_mode;
    kernel::mode_timing d_timing;
    signal_quality d_quality;
    std::optional<station_time> d_begin; // estimate: first symbol of the preamble
    // Its modem delivers whole blocks, so the start is known.
    bool d_began_in_blocks = false;
    std::optional<station_time> d_end;     // by its EOT
    station_time d_event_at{};             // the modem's last event
    station_time d_d_pdu_at{};             // the last D_PDU, or the start
    std::optional<station_time> d_read_at; // the last D_PDU with an EOT
    station_time d_over_by{};              // latest end by that EOT
    d_pdus_read d_read;
    bool d_reported_begin = false; // start reported to d_access, with the station
    bool d_reported_data = false;  // reported that it carries data
};

} // namespace gr::hf::s5066
