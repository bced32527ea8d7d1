/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>
#include <hf/station_time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

//! A transmission was recognised: from now on the channel is in use.
struct rx_start {
    mode m;            //!< mode signalled by the transmission
    double snr_db = 0; //!< in the mode's bandwidth, of the preamble or the joined block
    double freq_offset_hz = 0; //!< frequency offset of the received carrier
    //! Received from the start of a block on, without its preamble. Earlier octets are
    //! missing.
    bool joined = false;
};

//! Octets of one decoded interleaver block. Wrong bits are not removed.
struct rx_octets {
    std::vector<uint8_t> octets; //!< the first bit received is bit 0 of the first octet
    double snr_db = 0;           //!< in the mode's bandwidth, measured over the block
    double quality = 1;          //!< decoder's confidence: 0 = guesses, 1 = no doubt
    //! Two-sigma Doppler spread during the block. Empty: the modem does not measure it.
    std::optional<double> doppler_hz = std::nullopt;
    /*! Number of the block within its reception: 0, 1, 2... Blocks without octets are not
     *  counted. Empty: the modem gives every block once and in order.
     */
    std::optional<uint64_t> number = std::nullopt;
    //! Reading of the standard that the block agrees with; no preamble signals it.
    waveform_reading reading = waveform_reading::standard;
    /*! \brief Log-likelihood ratios of code bits as received, positive for 0, in units of
     *         \ref ratio_unit. Two for each bit of the transmission, T1 and T2. 0: unknown.
     *  \details Only of the code that runs on through the blocks (110C 5.3.2.3.2, 75 to
     *  2400 bit/s). Empty: another code, or the modem does not give them. They reach
     *  further than the octets, which follow by the decoder's delay.
     */
    std::vector<int8_t> ratios = {};
    //! Number of the bit that the first two ratios belong to. Bit 0 is the first one of
    //! \ref octets.
    uint64_t ratios_from = 0;

    static constexpr float ratio_unit = 0.25F; //!< of \ref ratios
};

//! How a received transmission ended.
enum class rx_end_reason {
    eom,       //!< end-of-message marker decoded
    lost,      //!< signal disappeared before that marker
    preempted, //!< a new preamble took over, or our transmitter was keyed
    limit      //!< the configured number of blocks was reached
};

/*! \brief End of a received transmission.
 *
 * \p air_end is when the last symbol was on the air at this receiver. Turns are timed
 * from it. It is earlier than the call by the receiver's delay. With reason \c lost it is
 * an estimate.
 */
struct rx_end {
    rx_end_reason reason = rx_end_reason::eom; //!< why it ended
    station_time air_end{};                    //!< station time at which it ended
    /*! \brief Octets received up to the last block at whose end the signal was still there.
     *         Later ones may be noise. -1: not known, in an emulated modem.
     */
    int64_t sure_octets = -1;
};

//! The user's answer when the modem pulls.
struct tx_octets {
    std::vector<uint8_t> octets; //!< at most as many as were requested
    bool last = false;           //!< true: the transmission ends after these
};

/*! \brief User of a modem: implemented by the data link, called by the modem (block,
 *         emulation or remote modem).
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

    //! Station time has reached \p now. Timers run from here.
    virtual void on_tick(station_time now) = 0;

    //! Mode in which to transmit: the modem keys the transmitter now. Empty: do not
    //! transmit. Called only while the modem is idle.
    virtual std::optional<mode> want_tx(station_time now) = 0;

    /*! \brief The next at most \p max_octets octets to transmit.
     *  \details \p air_time is when the first of them starts on the air, the start of its
     *  interleaver block. Fewer than \p max_octets, or \c last, ends the transmission.
     *  The modem then appends its end of message and the fill.
     */
    virtual tx_octets
    pull(station_time now, station_time air_time, size_t max_octets) = 0;

    //! The last symbol has left. The receiver is on again.
    virtual void on_tx_end(station_time now) = 0;

    virtual void on_rx_start(station_time now,
                             const rx_start& e) = 0; //!< after a preamble
    virtual void on_rx_octets(station_time now,
                              const rx_octets& e) = 0;             //!< after each block
    virtual void on_rx_end(station_time now, const rx_end& e) = 0; //!< the end

    /*! \brief A transmission that this modem does not receive is on the channel
     *         (\p present), or has ended. Its start was missed, or spoilt by another.
     *  \details A modem with such a carrier detector announces it by a first call with
     *  false before anything else. Its own transmission and on_rx_start() end what was
     *  present without a further call.
     */
    virtual void on_carrier(station_time now, bool present)
    {
        static_cast<void>(now);
        static_cast<void>(present);
    }
};

} // namespace gr::hf
