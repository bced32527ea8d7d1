/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Bit errors of a decoder come in bursts of this many bits, every second one
 *         wrong.
 *
 * Bursts of K = 9 have 16 wrong bits on average (5 to 14 transmissions each of six modes on
 * Poor at 2 dB: 10 to 27).
 */
double error_burst_bits(const mode& m);

//! Performance of a receiver in a mode at one SNR.
struct block_error_point {
    double snr_db = 0;      //!< in the bandwidth of the mode
    double lost = 0;        //!< share of transmissions not noticed
    double bad = 0;         //!< share of the blocks with errors, in noticed transmissions
    double ber_of_bad = 0;  //!< bit error rate inside bad blocks
    double burst_bits = 12; //!< error_burst_bits() of the mode

    /*! \brief Probability that octets inside one block are lost.
     *  \param octets of each copy
     *  \param copies number of copies in the block; one is enough
     */
    double loss(size_t octets, unsigned copies = 1) const;
};

//! Origin of the curve used for a mode.
enum class curve_source {
    none,        //!< no curve
    measured,    //!< in this mode
    interleaver, //!< measured with the nearest interleaver, or the other code length
    derived      //!< from another waveform, see block_error_curves
};

/*! \brief Measured block errors of one channel: curves over SNR, one for each mode.
 *
 * Between points the share of bad blocks follows a normal distribution, the usual shape
 * of a code's edge, and the bit error rate inside them falls by equal factors. Above the
 * last point both stay constant. From 2 dB below the first one all blocks are bad.
 *
 * A mode without a curve uses that of its rate and bandwidth with the nearest
 * interleaver. Without that, the curve is derived:
 * - A mode outside 3 kHz uses the curve of the same waveform in 3 kHz, at the same SNR in
 *   its own band. The same waveform has the same constellation and the nearest number of
 *   bits per symbol.
 * - A waveform of 3 kHz uses the curve of the fastest mode that is not faster, of its own
 *   standard. One of 5069 uses 4539 if its own has none. The curve is shifted up by the difference of the Shannon bounds
 *   of both rates (none for equal rates).
 */
class block_error_curves
{
public:
    /*! \brief Adds the curve of a mode.
     *  \throws std::invalid_argument if \p points is empty or not in the order of rising
     *         SNR, or if a share is not within 0 to 1 (ber_of_bad: 0.5)
     */
    void add(const mode& m, const std::vector<block_error_point>& points);
    bool empty() const { return d_curves.empty(); }
    //! True if a curve serves \p m.
    bool has(const mode& m) const { return source(m) != curve_source::none; }
    //! Origin of the curve that serves \p m.
    curve_source source(const mode& m) const { return find(m).source; }
    //! The mode whose curve serves \p m: \p m itself if measured; empty if there is none.
    std::optional<mode> serving(const mode& m) const;
    //! Block errors of mode \p m at an SNR in its bandwidth; all bad if no curve serves
    //! it.
    block_error_point at(const mode& m, double snr_db) const;
    /*! \brief SNR in the mode's bandwidth from which at least the share \p good of the
     *         blocks arrives, dB.
     *  \return empty if no curve serves \p m, or no SNR is enough
     */
    std::optional<double> needed_db(const mode& m, double good = 0.5) const;

private:
    // Family, bandwidth, rate, constraint length, interleaver.
    using key = std::tuple<int, int, int, int, int>;
    struct measured_curve {
        mode m;
        std::vector<block_error_point> points; // with points added at the ends
    };
    struct served {
        const measured_curve* curve = nullptr;
        curve_source source = curve_source::none;
        double shift_db = 0; // shift of the curve
    };
    served find(const mode& m) const;
    const measured_curve* own(const mode& m) const;
    const measured_curve* nearest(const mode& m) const;
    static key key_of(const mode& m);

    std::map<key, measured_curve> d_curves;
};

/*! \brief Block errors of this project's receiver as measured by `hf-lab bench curves`
 *         (lib/s5066/rate/block_errors.csv, compiled in). The only table of mode
 *         performance, for rate adaptation, acknowledgements and the event simulator.
 *  \param channel "awgn", "good", "moderate", "poor" or "high-moderate"
 *  \throws std::invalid_argument for another channel
 */
const block_error_curves& measured_block_errors(std::string_view channel);

} // namespace gr::hf::s5066
