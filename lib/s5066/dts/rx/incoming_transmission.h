/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/rx/block_order.h"
#include "s5066/pdu/deframer.h"
#include "waveform/timing.h"

#include <hf/modem_user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief The transmission that is being received, or was the last one: when it began and will end,
 *         its D_PDUs, and what its quality says to the rate policy.
 */
class incoming_transmission
{
public:
    incoming_transmission(node_context& node, channel_access& access);

    void begin(station_time now, const rx_start& e);
    //! Decoded octets came; next() has the D_PDUs in them.
    void push(station_time now, const rx_octets& e);
    //! The next D_PDU, of anyone to anyone; without \p over its octets may still be to come.
    std::optional<received_d_pdu> next(station_time now, bool over);
    //! It is over. \return when it ended on the air
    station_time finish(station_time now, const rx_end& e);

    //! When a reception counts as over although the modem has told no end, and why.
    struct overdue {
        station_time at{};
        const char* why = "";
    };
    /*! \brief The earliest of: the end as the last EOT says, with what receivers and the EOT of
     *         others may be late; a modem that says nothing more; a signal longer than any
     *         transmission in which no D_PDU can be read. So no reception lasts for ever.
     */
    overdue end_overdue() const;

    const gr::hf::mode& mode() const { return d_mode; }
    double snr_db() const { return d_snr_db; }
    //! Whom it was for, if all that was read was for one node.
    std::optional<address> only_to() const { return d_only_to; }
    //! It had data without ARQ for one node, and nothing else.
    bool non_arq_alone() const { return d_non_arq && !d_other; }
    /*! \brief Tells channel access of a transmission in which no D_PDU could be read.
     *  \param may_be_answer somebody was to answer us
     */
    void note_unread(bool may_be_answer);

    //! What the rate policy is told of \p p, of which something was heard.
    reception heard_of(const peer& p) const;
    //! Of the peer that this can only have been, though nothing was read. Empty: nobody knows.
    std::optional<std::pair<address, reception>> unread() const;

private:
    std::optional<double> mean_doppler_hz() const;
    void add(const rx_octets& e);
    void note_eot(station_time now, const received_d_pdu& r);
    void note_turn(const d_pdu& d);

    node_context& d_node;
    channel_access& d_access;
    block_order d_order;
    d_pdu_deframer d_deframer;
    uint64_t d_seen_false_syncs = 0;
    gr::hf::mode d_mode;
    kernel::mode_timing d_timing;
    double d_snr_db = 0;
    std::vector<double> d_block_snr_db, d_block_doppler_hz;
    size_t d_octets = 0;
    std::optional<station_time> d_begin; // estimate: first symbol of the preamble
    bool d_began_in_blocks = false; // its modem gives whole ones, so that this is known
    std::optional<station_time> d_end;     // as its EOT says
    station_time d_event_at{};             // the modem's last event
    station_time d_d_pdu_at{};             // the last D_PDU, or the begin
    std::optional<station_time> d_read_at; // the last D_PDU with an EOT
    station_time d_over_by{};              // what that says at most, counted from then
    bool d_non_arq = false;                // data to one node
    bool d_other = false;                  // anything else
    std::optional<address> d_from, d_only_to;
    bool d_told_begin = false; // to d_access, with the station
    bool d_told_data = false;  // and that it carries data
};

} // namespace gr::hf::s5066
