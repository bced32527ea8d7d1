/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/mode_promise.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gr::hf::s5066 {

/*! \brief Knowledge about the channel from one station to another, and the best mode for
 *         it.
 *
 * The performance of modes is measured on a few classes of channels (mode_promises). The
 * belief is a set of probabilities of (class, offset in dB): which class the channel is
 * like, and by how much it is better or worse than its SNR says. Bayes' rule updates it
 * by the spread of the block SNRs, by their Doppler spread and by the fate of D_PDUs. So
 * one failed transmission changes the belief by the right amount. At 20 dB, enough for
 * any slow fading, a failure shows that fades are too fast for the mode. The curve of
 * each mode may also stray from the others' curves, which only D_PDUs in that mode show.
 * The best mode promises most on average over the belief.
 */
class rate_estimator
{
public:
    //! \param window unacknowledged D_PDUs allowed
    explicit rate_estimator(unsigned window = usual_window);
    void set_window(unsigned window) { d_window = window; }
    unsigned window() const { return d_window; }

    /*! \brief Takes the blocks of a transmission in mode \p m, with their SNR in m's
     *         bandwidth. All modes of an estimator have the same bandwidth.
     *  \param doppler_hz two-sigma Doppler spread, mean of the blocks, if the modem
     *         measures it
     */
    void on_blocks(const mode& m,
                   const std::vector<double>& snr_db,
                   std::optional<double> doppler_hz = std::nullopt);
    /*! \brief Of the data D_PDUs sent in mode \p m, \p good arrived and \p lost did not.
     *  \param octets average length of a D_PDU, header included
     */
    void on_d_pdus(const mode& m, double good, double lost, double octets);
    //! Nothing arrived of a transmission in mode \p m.
    void on_nothing(const mode& m);

    bool known() const { return d_known; }
    double mean_db() const { return d_mean_db; }
    //! True if the level changes from block to block.
    bool fading() const { return d_short_deviation_db > 1.5; }
    //! Probability that the channel is like known_channels[c].
    double class_probability(size_t c) const;
    //! Probability that a block in mode \p m arrives.
    double block_success(const mode& m) const;
    //! Expected goodput of much data in mode \p m with the best segments, bit/s.
    double goodput_bps(const mode& m) const { return best_segment(m).second; }
    //! Segment length with the most goodput in mode \p m, one of tried_segments.
    size_t segment_octets(const mode& m) const { return best_segment(m).first; }
    /*! \brief The mode with the most goodput for much data.
     *  \param modes not empty
     *  \param present the mode in use, if any: others must promise somewhat more
     *  \param worth_a_rise by this factor more if they need more SNR
     */
    mode best(const std::vector<mode>& modes,
              const std::optional<mode>& present = std::nullopt,
              double worth_a_rise = 1) const;
    //! The mode that gets \p octets across soonest on average.
    mode soonest(const std::vector<mode>& modes, size_t octets, double failure_s) const;

private:
    static constexpr size_t offsets = 25; // -6 to 6 dB
    static double offset_db(size_t k) { return 0.5 * static_cast<double>(k) - 6; }
    using weights = std::array<std::array<double, offsets>, channel_classes>;
    static constexpr size_t shifts = 7; // -1.5 to 1.5 dB
    static double shift_db(size_t i) { return 0.5 * static_cast<double>(i) - 1.5; }
    using shift_weights = std::array<double, shifts>;
    // Sum of offset and shift: offset k and shift i give sum number k + i.
    static constexpr size_t sums = offsets + shifts - 1;
    static double sum_db(size_t j) { return offset_db(0) + shift_db(j); }
    using by_sum = std::array<std::array<double, sums>, channel_classes>;
    // SNR in the bandwidth of a constant envelope, on the assumption of one class.
    struct level {
        double mean_db = 0, variance = 0; // dB, dB^2
        // Takes an observation; returns the logarithm of its likelihood.
        double update(double snr_db, double its_variance);
    };

    std::pair<size_t, double> best_segment(const mode& m) const;
    static const weights& prior();
    void multiply(const weights& log_likelihood);
    static const shift_weights& shift_prior();
    const shift_weights& shift_of(const mode& m) const;
    by_sum success(const mode& m, double octets) const;
    void learn_shift(const mode& m, const by_sum& likelihood);
    struct seen {
        double snr_db, deviation_db, block_s, blocks;
        std::optional<double> doppler_hz;
    };
    void track(const seen& s);
    double spread_likelihood(const channel_class& c, const seen& s) const;
    double doppler_likelihood(const channel_class& c, const seen& s) const;
    // Means of n numbers of a promise over the belief: classes, offsets, and the
    // uncertainty of the level. of(promise, i) is the i-th number.
    template <size_t n, typename F>
    std::array<double, n> means(const mode& m, F&& of) const;

    unsigned d_window;
    bool d_known = false;
    double d_mean_db = 0;
    double d_short_deviation_db = 3; // of blocks of about a second
    std::array<level, channel_classes> d_level;
    weights d_weight; // their sum is 1
    // Per mode with D_PDUs seen: probabilities of how far its curve strays from the
    // others.
    std::map<std::string, shift_weights> d_shift;
};

} // namespace gr::hf::s5066
