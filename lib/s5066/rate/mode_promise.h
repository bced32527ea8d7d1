/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <array>
#include <cstddef>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief A channel with measured block errors, as an example of what a channel may be
 *         like.
 *
 * Two paths of equal mean power that fade independently (Watterson), or no fading.
 */
struct channel_class {
    const char* curves; //!< name for measured_block_errors()
    double doppler_hz;  //!< two-sigma spread of each path; 0: does not fade
    double curves_hz;   //!< the same, of the channel of the curves

    /*! \brief Number of independent fades in \p seconds, at least 1.
     *
     * The power of a path with a Gaussian Doppler spectrum of two-sigma spread d has the
     * correlation exp(-(pi d t)^2) over the time t. Its integral is 1 / (sqrt(pi) d).
     */
    double fades_in(double seconds) const;
};

/*! \brief Standard deviation of the Doppler spread that the receiver measures in one
 *         block.
 *
 * The fewer fades the block contains, the less it tells. Fitted to measurements of 600S,
 * 600L, 2400S and 4800L on Good, Moderate, Poor and at 10 Hz: relative error 0.74 where
 * the product of spread and duration is 0.3, 0.44 at 0.6, 0.15 at 2.4 and 0.08 at 6.
 *  \param doppler_hz two-sigma spread, above 0
 *  \param seconds duration of the block
 */
double doppler_error_hz(double doppler_hz, double seconds);

//! The classes: without fading, ITU-R Good, Moderate and Poor, and 3 ms with 10 Hz.
constexpr size_t channel_classes = 5;
extern const std::array<channel_class, channel_classes> known_channels;

//! Unacknowledged D_PDUs allowed: on any link (C.6.2), and with S5066-EP5.
constexpr unsigned usual_window = 128, large_window = 32768;

/*! \brief Average duration of a transmission of much data, in seconds: the longest
 *         allowed, or what the window leaves.
 *
 * The last of A new D_PDUs arrives after the largest of A geometrically distributed
 * numbers of rounds, 1/2 + H(A) / -ln(lost) on average. The window holds all D_PDUs sent
 * meanwhile. With the repeats, A / (1 - lost) are sent in each round.
 *  \param d_pdu_s duration of a D_PDU
 *  \param lost share of D_PDUs that do not arrive
 *  \param window unacknowledged D_PDUs allowed
 */
double
windowed_transmission_s(double d_pdu_s, double lost, unsigned window = usual_window);

//! Cost of a lost answer, s: the timeout, and asking again.
constexpr double lost_answer_s = 10;
//! Octets of an answer: an ACK with some selective acknowledgements.
constexpr size_t ack_octets = 60;

//! Segment lengths that are tried, in octets of user data; the last one is the longest
//! allowed (C.3.2.10).
constexpr std::array<size_t, 6> tried_segments = { 48, 96, 192, 384, 700, 1023 };

//! Expected performance of a mode on one channel at one SNR.
struct promise {
    double block_success = 0; //!< probability that a block arrives
    double lost = 1;          //!< share of transmissions not noticed
    double bursts = 0;        //!< bursts of errors in a block, on average
    double shape = 1;         //!< of the gamma distribution of that mean over blocks
    /*! \brief User bit/s of much data by ARQ, delivered in order, for each of
     *         tried_segments.
     *  \details Excluded are headers, lost D_PDUs, the turn after each longest
     *         transmission with its preambles and answer, and data that wait behind a gap
     *         after half an hour.
     */
    std::array<double, tried_segments.size()> goodput_bps = {};
};

/*! \brief Expected performance of a mode on each class of channels by SNR, computed once
 *         for each mode from measured_block_errors().
 */
class mode_promises
{
public:
    //! The table of mode \p m for links with that window; it lives as long as the
    //! program.
    static const mode_promises& of(const mode& m, unsigned window = usual_window);
    //! Probability that a data D_PDU of \p octets arrives, header included.
    double d_pdu_success(size_t c, double snr_db, double octets) const;
    //! Entry for channel class \p c at an SNR in the mode's bandwidth, dB.
    const promise& at(size_t c, double snr_db) const;
    /*! \brief Mean power relative to a constant envelope with the same peak, dB. The SNR
     *         of this mode is higher or lower by this, since the peak limits
     *         transmitters.
     */
    double power_db() const { return d_power_db; }
    //! SNR in the mode's bandwidth at which half of the blocks arrive without fading, dB.
    double needed_db() const { return d_needed_db; }

private:
    mode_promises(const mode& m, unsigned window);
    double d_pdu_success(const channel_class& c, const promise& p, double octets) const;

    double d_block_s, d_block_octets;
    std::array<std::vector<promise>, channel_classes> d_table; // by SNR
    double d_needed_db;
    double d_power_db;
};

} // namespace gr::hf::s5066
