/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>
#include <hf/modem_user.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gr::hf {

//! State of a modem, for displays.
struct modem_state {
    bool transmitting = false;    //!< between keying and release
    bool receiving = false;       //!< between a preamble and the end of its transmission
    bool carrier = false;         //!< a transmission on the channel is not received
    std::string tx_mode;          //!< mode of the current or last transmission
    std::string rx_mode;          //!< mode of the current or last reception
    double snr_db = 0;            //!< in the mode's bandwidth, last measured
    double freq_offset_hz = 0;    //!< frequency offset of the last reception
    double now = 0;               //!< station time, s
    uint64_t transmissions = 0;   //!< since the start
    uint64_t receptions = 0;      //!< since the start
    uint64_t octets_sent = 0;     //!< octets transmitted
    uint64_t octets_received = 0; //!< octets received
    uint64_t late_answers = 0;    //!< live operation: answers that came too late
    uint64_t damaged = 0;         //!< transmissions that the radio did not send
                                  //!< completely
};

/*! \brief Half-duplex HF modem: received samples in, transmit samples out, one for each.
 *  \ingroup hf
 *
 * Complex baseband around the subcarrier, 3200 samples/s for each kHz of bandwidth (9600
 * in 3 kHz), zeros while not transmitting. The first sample of a transmission is tagged
 * tx_sob, the last one tx_eob. The receiver finds waveform, frequency offset and timing
 * by itself.
 *
 * Message port \c modem (in and out) connects to the port of the same name of
 * hf.data_link. The user guide describes its messages. Station time advances in ticks of
 * 10 ms of received samples.
 *
 * Message port \c status (out), for displays and logs: PDUs of type tx_start (now, mode),
 * tx_end (now), rx_start (now, mode, snr_db, freq_offset_hz, joined), rx_octets (now,
 * snr_db, quality, doppler_hz; the octets), channel (now, freq_offset_hz, doppler_hz,
 * delay_spread_ms, coded_ber, profile: the channel during the block before), rx_end (now,
 * reason, air_time) and tx_damaged (now, transmission, reason).
 *
 * Message port \c radio (in): PDUs of type tx_damaged of a radio (hf.to_sdr), which are
 * passed to the data link. The reasons lost and unkeyed end the transmission at once. A
 * tag \c erased on the input says how many samples from there on are missing. The
 * receiver counts them as erasures.
 *
 * Message port \c blocks (out), for displays: equalised symbols, taps and quality of each
 * decoded block, as that of hf.rx. It costs nothing while it is not connected.
 *
 * With \p lock_step the block makes no further sample before the data link has answered
 * the last tick. The whole flowgraph is then deterministic, and runs as fast as the
 * processor allows. Without it (live radio) the block waits at most 50 ms for octets. If
 * they do not come, the transmission is ended and counted in late_answers.
 */
class HF_API modem : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<modem> sptr; //!< pointer type for flowgraphs

    /*! \param lock_step wait for the data link (simulated air, recordings, tests)
     *  \param zero_interleaver the short interleaver of the serial tone is received as
     *         zero interleaver; the waveform does not signal which of them is used
     *  \param agc_blocks AGC training blocks sent before a high-rate preamble, 0 to 7
     *  \param effort effort of the receiver: 0 equalises and decodes once, 1 iterates, 2
     *         longer
     *  \param start_delay_s seconds of received samples before the first transmission and
     *         the first tick to the data link, 0 to 60. Sound cards and radios lose
     *         samples while their buffers fill. Empty: 0 in lock step, otherwise 1
     *  \param level highest magnitude of the transmit samples, 0.001 to 10; full scale of
     *         sound cards and radios is 1. The default leaves the modulator's level: mean
     *         power 1 (PSK) or less (QAM, down to 0.54), which hf.air counts on
     *  \param bandwidth bandwidth in which the modem sends and listens, kHz: 3, 6, 9, 12,
     *         15, 18, 21, 24, 30, 36, 42 or 48. A mode of another bandwidth is not sent
     *  \throws std::invalid_argument
     */
    static sptr make(bool lock_step = true,
                     bool zero_interleaver = false,
                     int agc_blocks = 0,
                     int effort = 1,
                     std::optional<double> start_delay_s = std::nullopt,
                     double level = 1.6,
                     int bandwidth = 3);

    //! A snapshot; may be called from any thread.
    virtual modem_state state() const = 0;
    //! Highest magnitude of the samples from now on, as \p level of make(). Any thread may
    //! call it. \throws std::invalid_argument
    virtual void set_level(double level) = 0;
};

} // namespace gr::hf
