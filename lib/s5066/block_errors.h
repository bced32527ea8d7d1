/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

//! Bit errors of a decoder come in bursts of this many bits, every second one wrong.
constexpr double error_burst_bits = 12;

//! What a receiver makes of a mode at one SNR.
struct block_error_point {
    double snr_db = 0;     //!< in 3 kHz
    double lost = 0;       //!< share of transmissions that are not noticed
    double bad = 0;        //!< share of the blocks with errors, of those noticed
    double ber_of_bad = 0; //!< bit error rate inside them

    /*! \brief Probability that octets inside one block are lost.
     *  \param octets of each copy
     *  \param copies one of them is enough; they share the block
     */
    double loss(size_t octets, unsigned copies = 1) const;
};

/*! \brief Measured block errors of one channel: curves over SNR, one for each mode.
 *
 * Between points they are interpolated; above the last point it stays as there, 2 dB below the
 * first one everything is bad. A mode without a curve takes that of its rate with the nearest
 * interleaver.
 */
class block_error_curves
{
public:
    /*! \brief Adds the curve of a mode.
     *  \throws std::invalid_argument if \p points is empty, not in the order of rising SNR,
     *          or if a share is not within 0 to 1 (ber_of_bad: 0.5)
     */
    void add(const mode& m, const std::vector<block_error_point>& points);
    bool empty() const { return d_curves.empty(); }
    //! A curve serves \p m.
    bool has(const mode& m) const { return find(m) != nullptr; }
    //! Of mode \p m; all bad if no curve serves it.
    block_error_point at(const mode& m, double snr_db) const;

private:
    const std::vector<block_error_point>* find(const mode& m) const;

    std::map<std::pair<int, bool>, std::vector<block_error_point>> d_curves; // rate, long
};

/*! \brief What `hf bench curves` has measured of this project's receiver
 *         (python/hf/lab/block_errors.csv, which is compiled in).
 *  \param channel "awgn", "moderate", "poor" or "high-moderate"
 *  \throws std::invalid_argument for another channel
 */
const block_error_curves& measured_block_errors(const std::string& channel);

} // namespace gr::hf::s5066
