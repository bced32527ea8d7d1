/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/keys.h>
#include <hf/modem_user.h>

#include "modem/detect/block_details.h"
#include "modem/track/channel_report.h"

#include <optional>
#include <string>

/*! \file modem_messages.h
 *  \brief The modem port as messages: the calls of modem_user, between two blocks.
 *
 *     modem to link                         link to modem
 *     tick       now, lock_step             tick_done  [mode]: key up in this mode
 *                [open, only: ALE decides]             [wanted, active, joined, unanswered: if so]
 *     pull       now, air_time, max_octets  tx_octets  last; octets
 *     tx_end     now
 *     rx_start   now, mode, snr_db, freq_offset_hz, joined: without its preamble
 *     rx_octets  now, snr_db, quality, doppler_hz if it is measured; octets
 *                [ratios, ratios_from: soft bits of the running code]
 *     rx_end     now, reason, air_time
 *     carrier    now, present
 *     tx_damaged now, transmission, reason: the radio did not send all of it
 *
 * Every tick and every pull is answered by exactly one message. Nothing else is answered.
 */
namespace gr::hf::modem_messages {

//! Use of the channel that link establishment allows.
struct channel_use {
    bool open = true;
    std::string only; //!< address of the only node that may be sent to; empty: all
};
pmt::pmt_t
tick(station_time now, bool lock_step, const std::optional<channel_use>& use = {});
//! Content of a tick_done.
struct tick_answer {
    std::optional<mode> key_up;
    std::string wanted;      //!< address of the node that data wait for; empty: none
    bool active = false;     //!< the data link exchanges something, or can send
    bool joined = false;     //!< it has a soft link
    uint64_t unanswered = 0; //!< waits in a row in which the peer was not read
};
pmt::pmt_t tick_done(const tick_answer& answer);
pmt::pmt_t pull(station_time now, station_time air_time, size_t max_octets);
pmt::pmt_t octets(const tx_octets& o);
pmt::pmt_t tx_end(station_time now);
//! For the status port only. The link knows when it keys the transmitter.
pmt::pmt_t tx_start(station_time now, const mode& m);
pmt::pmt_t start(station_time now, const rx_start& e);
pmt::pmt_t octets(station_time now, const rx_octets& e);
//! channel: now, freq_offset_hz, doppler_hz, delay_spread_ms, coded_ber, profile; for
//! displays
pmt::pmt_t channel(station_time now, const kernel::channel_report& c);
pmt::pmt_t end(station_time now, const rx_end& e);
/*! \brief For displays: a decoded block with its equalised symbols instead of octets, the
 *         keys of channel, mode, snr_db, quality, and taps.
 *  \details Of more than 2048 symbols every second, third, ... is given.
 */
pmt::pmt_t block(station_time now,
                 const std::string& mode,
                 const rx_octets& e,
                 const kernel::channel_report& c,
                 const kernel::block_details& d);
pmt::pmt_t carrier(station_time now, bool present);
pmt::pmt_t tx_damaged(station_time now, uint64_t transmission, const std::string& reason);
//! True if nothing leaves the radio after this reason of tx_damaged: its key or its
//! device is lost.
bool ends_transmission(const std::string& reason);

/*! \brief Pass a message of the modem to \p user. The answer, if the message wants one.
 *  \details A tick only calls on_tick(). The caller decides when to ask want_tx() and
 *  answer, since others may have to act on the tick before.
 *  \param msg any message. One that is not a valid message of the modem causes no call.
 *  \param[out] reply answer to send back, empty if none.
 *  \return false if \p msg was not understood.
 */
bool dispatch(const pmt::pmt_t& msg, modem_user& user, pmt::pmt_t& reply);

//! Empty: not a tick_done.
std::optional<tick_answer> parse_tick_done(const pmt::pmt_t& msg);

//! Content of a tx_octets; empty: not a tx_octets.
std::optional<tx_octets> parse_tx_octets(const pmt::pmt_t& msg);

//! "eom", "lost", "preempted" or "limit".
const char* to_string(rx_end_reason r);

} // namespace gr::hf::modem_messages
