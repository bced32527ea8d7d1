/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>
#include <hf/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

//! A transmission was recognised: from now on the channel is in use.
struct rx_start {
    mode m; //!< as signalled by the transmission itself
    double snr_db =
        0; //!< in the mode's bandwidth, measured on the preamble or what it was joined by
    double freq_offset_hz = 0; //!< of the received carrier
    //! Without its preamble, from the begin of a block on: what came before is missing.
    bool joined = false;
};

//! Octets of one decoded interleaver block; erroneous bits are left in place.
struct rx_octets {
    std::vector<uint8_t> octets; //!< first bit received is bit 0 of the first octet
    double snr_db = 0;           //!< in the mode's bandwidth, measured over the block
    double quality = 1;          //!< decoder's confidence: 0 = guesses, 1 = no doubt
    //! Two-sigma Doppler spread during the block; empty: the modem does not measure it.
    std::optional<double> doppler_hz = std::nullopt;
    /*! Of the block within its reception, those without octets not counted: 0, 1, 2... Empty: the
     *  modem gives blocks in their order, each once. */
    std::optional<uint64_t> number = std::nullopt;
};

//! How a received transmission ended.
enum class rx_end_reason {
    eom,       //!< end-of-message marker decoded
    lost,      //!< signal disappeared before the marker
    preempted, //!< a new preamble took over, or the own transmitter was keyed
    limit      //!< the configured number of blocks was reached
};

/*! \brief End of a received transmission.
 *
 * \p air_end is when its last symbol was on the air at this receiver: the anchor for taking
 * turns. It lies before the time of the call by the receiver's delay. In the case \c lost it
 * is an estimate.
 */
struct rx_end {
    rx_end_reason reason = rx_end_reason::eom; //!< why it ended
    station_time air_end{};                    //!< station time of its end
};

//! What the user answers when the modem pulls.
struct tx_octets {
    std::vector<uint8_t> octets; //!< at most as many as were asked for
    bool last = false;           //!< true: the transmission ends after these
};

/*! \brief The side of the modem port that uses a modem: implemented by the data link,
 *         called by whatever plays the modem (block, emulation, remote modem).
 *
 * Half duplex. The modem drives: it calls on_tick() at least every 10 ms of station time,
 * asks want_tx() after it, and while transmitting calls pull() before every interleaver
 * block. Nothing is pushed into a modem, so what goes on the air is decided as late as
 * possible. No call may block or throw.
 */
class modem_user
{
public:
    virtual ~modem_user() = default;

    //! Station time has come to \p now; timers run from here.
    virtual void on_tick(station_time now) = 0;

    //! Not empty: key the transmitter now and send in this mode. Asked only while idle.
    virtual std::optional<mode> want_tx(station_time now) = 0;

    /*! \brief The next at most \p max_octets octets to transmit.
     *  \details \p air_time is when the first of them begins to be on the air (the begin of
     *  its interleaver block). Fewer than \p max_octets, or \c last, ends the transmission:
     *  the modem appends its end of message and the fill.
     */
    virtual tx_octets
    pull(station_time now, station_time air_time, size_t max_octets) = 0;

    //! The last symbol has left; the receiver is on again.
    virtual void on_tx_end(station_time now) = 0;

    virtual void on_rx_start(station_time now, const rx_start& e) = 0;   //!< a preamble
    virtual void on_rx_octets(station_time now, const rx_octets& e) = 0; //!< a block
    virtual void on_rx_end(station_time now, const rx_end& e) = 0;       //!< it is over

    /*! \brief A transmission that this modem does not receive is on the channel (\p present),
     *  or has left it: one whose begin was missed, or spoilt by another.
     *  \details A modem with such a carrier detector says so by a first call with false before
     *  anything else. Its own transmission and on_rx_start() end what was present without a
     *  further call.
     */
    virtual void on_carrier(station_time now, bool present)
    {
        static_cast<void>(now);
        static_cast<void>(present);
    }
};

} // namespace gr::hf
