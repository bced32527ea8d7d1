/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <array>
#include <cstddef>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief A channel whose block errors are measured: what another channel may be like.
 *
 * Two paths of equal mean power that fade independently (Watterson), or none that do.
 */
struct channel_class {
    const char* curves; //!< of measured_block_errors()
    double doppler_hz;  //!< two-sigma spread of each path; 0: does not fade
    bool
        slower_than_long; //!< a fade outlasts the long interleaver, which is of no use then

    /*! \brief Number of independent fades in so many seconds, at least 1.
     *
     * The power of a path with a Gaussian Doppler spectrum of two-sigma spread d is correlated as
     * exp(-(pi d t)^2) over the time t; the integral of that is 1 / (sqrt(pi) d).
     */
    double fades_in(double seconds) const;
};

/*! \brief Standard deviation of the Doppler spread that the receiver reads of one block.
 *
 * The fewer fades the block sees the less it tells. Fitted to what it reads of 600S, 600L, 2400S and
 * 4800L on Good, Moderate, Poor and at 10 Hz: relative error 0.74 where the product of spread and
 * duration is 0.3, 0.44 at 0.6, 0.15 at 2.4 and 0.08 at 6.
 *  \param doppler_hz two-sigma spread, above 0
 *  \param seconds of the block
 */
double doppler_error_hz(double doppler_hz, double seconds);

//! The classes: without fading, ITU-R Good, Moderate and Poor, and 3 ms with 10 Hz.
constexpr size_t channel_classes = 5;
extern const std::array<channel_class, channel_classes> known_channels;

//! D_PDUs that may be unacknowledged: of any link (C.6.2), and with S5066-EP5.
constexpr unsigned usual_window = 128, large_window = 32768;

/*! \brief Seconds that a transmission of much data is long on average: the longest there is, or what the
 *         window leaves.
 *
 * The last of A new D_PDUs has arrived after the largest of A geometrically distributed numbers of
 * rounds, 1/2 + H(A) / -ln(lost) on average, and the window holds all that go out meanwhile; with
 * what is repeated, A / (1 - lost) are sent in each.
 *  \param d_pdu_s of each D_PDU
 *  \param lost share of them that does not arrive
 *  \param window D_PDUs that may be unacknowledged
 */
double
windowed_transmission_s(double d_pdu_s, double lost, unsigned window = usual_window);

//! Octets of user data in a D_PDU that are tried for the best; the last ones are the longest
//! (C.3.2.10).
constexpr std::array<size_t, 6> tried_segments = { 48, 96, 192, 384, 700, 1023 };

//! What a mode gives on one channel at one SNR.
struct promise {
    double block_success = 0; //!< of a block
    double lost = 1;          //!< share of transmissions that are not noticed
    double bursts = 0;        //!< of errors, in a block on average
    double shape = 1;         //!< of the gamma distribution of their mean over blocks
    /*! \brief User bit/s of much data by ARQ, delivered in order, for each of tried_segments: header, lost
     *         D_PDUs, the turn after each longest transmission, with its preambles and answer, and
     *         what waits behind a gap after ten minutes, taken off.
     */
    std::array<double, tried_segments.size()> goodput_bps = {};
};

/*! \brief What a mode gives on each class of channels by SNR, computed from
 *         measured_block_errors() once for each mode.
 */
class mode_promises
{
public:
    //! Of mode \p m on links with that window; lives as long as the program.
    static const mode_promises& of(const mode& m, unsigned window = usual_window);
    //! Probability that a data D_PDU of so many octets arrives, header included.
    double d_pdu_success(size_t c, double snr_db, double octets) const;
    //! On channel class \p c at an SNR in the mode's bandwidth, dB.
    const promise& at(size_t c, double snr_db) const;
    /*! \brief Mean power beside that of a constant envelope with the same peak, dB: what the SNR of
     *         this mode is higher or lower by, since transmitters are limited by their peak.
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
