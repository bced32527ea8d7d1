/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/mode_promise.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gr::hf::s5066 {

/*! \brief What is known about the channel from one station to another, and which mode is best.
 *
 * What modes do is measured on a few classes of channels (mode_promises). Which of them the channel
 * is like, and by how much it is better or worse than its SNR says, is a belief: probabilities of
 * (class, offset in dB), by Bayes' rule from how the SNR of the blocks spreads, from their Doppler
 * spread and from what became of D_PDUs. One transmission that fails so changes the belief as much as it
 * should: at 20 dB, where every fading would do, it tells that fades are too fast for the mode.
 * The curve of each mode may stray from the others' besides, which only D_PDUs in that mode tell.
 * The mode is the one that promises most on the average over the belief.
 */
class rate_estimator
{
public:
    //! \param window D_PDUs that may be unacknowledged
    explicit rate_estimator(unsigned window = usual_window);
    void set_window(unsigned window) { d_window = window; }

    /*! \brief Blocks of a transmission in mode \p m, with their SNR in m's bandwidth. All modes of
     *         an estimator are of one bandwidth.
     *  \param doppler_hz two-sigma Doppler spread, mean of the blocks, if the modem measures it
     */
    void on_blocks(const mode& m,
                   const std::vector<double>& snr_db,
                   std::optional<double> doppler_hz = std::nullopt);
    /*! \brief Of the data D_PDUs sent in mode \p m so many arrived and so many did not.
     *  \param octets of each on average, header included
     */
    void on_d_pdus(const mode& m, double good, double lost, double octets);
    //! Nothing at all arrived of a transmission in mode \p m.
    void on_nothing(const mode& m);

    bool known() const { return d_known; }
    double mean_db() const { return d_mean_db; }
    //! The level changes from block to block.
    bool fading() const { return d_short_deviation_db > 1.5; }
    //! Probability that the channel is like known_channels[c].
    double class_probability(size_t c) const;
    //! Probability that a block in mode \p m arrives.
    double block_success(const mode& m) const;
    //! Expected goodput of much data in mode \p m with the best segments, bit/s.
    double goodput_bps(const mode& m) const { return best_segment(m).second; }
    //! Octets of the segments that give the most goodput in mode \p m, one of tried_segments.
    size_t segment_octets(const mode& m) const { return best_segment(m).first; }
    /*! \brief Of the modes, that with the most goodput for much data.
     *  \param modes not empty
     *  \param present the one in use, if any: others must promise somewhat more
     */
    mode best(const std::vector<mode>& modes,
              const std::optional<mode>& present = std::nullopt) const;
    //! Of the modes, the one that gets \p octets across soonest on average.
    mode soonest(const std::vector<mode>& modes, size_t octets, double failure_s) const;

private:
    static constexpr size_t offsets = 25; // -6 to 6 dB
    static double offset_db(size_t k) { return 0.5 * static_cast<double>(k) - 6; }
    using weights = std::array<std::array<double, offsets>, channel_classes>;
    static constexpr size_t shifts = 7; // -1.5 to 1.5 dB
    static double shift_db(size_t i) { return 0.5 * static_cast<double>(i) - 1.5; }
    using shift_weights = std::array<double, shifts>;
    // Of offset k and shift i together: number k + i.
    static constexpr size_t sums = offsets + shifts - 1;
    static double sum_db(size_t j) { return offset_db(0) + shift_db(j); }
    using by_sum = std::array<std::array<double, sums>, channel_classes>;
    // The SNR in the bandwidth of a constant envelope, if the channel is of a class.
    struct level {
        double mean_db = 0, variance = 0; // dB, dB^2
        // What is observed; returns the logarithm of its likelihood.
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
    // Mean of a promise over the belief: classes, offsets, and what is not known of the level.
    template <typename F>
    double mean(const mode& m, F&& of) const;

    unsigned d_window;
    bool d_known = false;
    double d_mean_db = 0;
    double d_short_deviation_db = 3; // of blocks of about a second
    std::array<level, channel_classes> d_level;
    weights d_weight; // their sum is 1
    // Probabilities of how far the curve of a mode strays from the others, if D_PDUs were seen in it.
    std::map<std::string, shift_weights> d_shift;
};

} // namespace gr::hf::s5066
