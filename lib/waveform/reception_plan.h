/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief How to find the channel on the fixed symbols of a preamble: for a family,
 *         before the mode is known.
 *
 * "Swept" in this file: chosen by measuring other values,
 * see "Numbers of the reception plans" in laboratory/results/measurements/reception-plans.md. No derivation is known.
 */
struct synchroniser_plan {
    /*! \brief Pieces over which the correlation with known symbols is coherent, s.
     *  \details A carrier 75 Hz off (110C C.6.3) turns by a quarter turn in one piece
     *  and costs 0.9 dB; pieces twice as long would lose 3.9 dB.
     */
    double piece_s = 1 / 300.0;
    //! Window of delays, s: 5.4 ms before the first path seen and 7 ms after it (5 ms of
    //! Table XVI and the pulse on both sides).
    double window_s = 0.0125;
    /*! \brief Window of a transmission whose first symbols show a path outside of
     *         window_s, s; 0: paths out there are not looked for.
     */
    double wide_window_s = 0;
    //! Residual power on a delay that makes it a path out there, relative to noise:
    //! exp(-14) of 90 delays, by chance at one in 13000 transmissions.
    float path_outside = 14;
    //! Part of the window before the first path: an earlier path may be in a fade.
    double lead_s = 0.0054;
    //! Longest delay received: the first path may be this long before the strongest.
    double search_s = 0.010;
    //! Fine offset: range to either side, and steps of the first look, Hz. The range is
    //! half of the search's widest step, 12.8 Hz. A step costs under 0.1 dB over
    //! 288 symbols.
    double fine_range_hz = 6, fine_step_hz = 0.5;
    //! Power of delays used for the offset, relative to the strongest. Swept.
    float strong_delay = 0.3f;
    //! Least power of a path, relative to the strongest: -12 dB. Swept.
    float min_path = 0.06f;
    //! The same for a periodic pattern: above its side peaks of a half.
    float min_path_periodic = 0.4f;
    //! Least power of a path, relative to the mean power of noise: by chance less than
    //! once in 1000 delays.
    float min_path_over_noise = 8;
    //! Least power of one half of a periodic pattern, relative to the other. A lone probe
    //! amid data, which comes in every frame, has one half only.
    float other_half = 0.1f;
    //! Rounds of estimating delay profile and noise; they hardly change after the third.
    int rounds = 3;
    //! Share of independent rows: the matched filter leaves 1.35 / 2 of the band.
    float independent_rows = 0.67f;
    //! Least power of a tap in the matched filter, relative to noise alone. Weaker taps
    //! would cost some dB on a weak signal. Noise alone exceeds it on exp(-4) of the
    //! taps, one of 55. Swept.
    float certain_tap = 4;
    //! Power of the first path's tap, relative to the strongest: the time at which
    //! symbols arrive.
    float first_path = 0.1f;
};

//! Speed of fading that is followed: the series of channel_estimator.
struct fading_pace {
    double spread_hz = 1;     //!< two-sigma Doppler spread of the series
    size_t terms = 3;         //!< of the series in time
    double window_s = 0.12;   //!< observations this near to the target count
    size_t max_selected = 20; //!< most taps solved for
    //! Half-symbol rows with a constant channel; 0: a whole observation.
    size_t rows = 0;
};

//! A pace, and the measured Doppler spread from which on it is used.
struct fading_class {
    double from_hz = 0;
    fading_pace pace;
    //! Symbols over which the equaliser treats the channel as constant.
    size_t sub_block = 16;
    //! The pace with the data of a block as known symbols; terms = 0: the same pace.
    fading_pace refined{ 1, 0, 0, 0, 0 };
};

//! Limits of a channel estimator for noise, paths and interference.
struct estimator_plan {
    // Noise. Below these shares of the signal's power the model itself is inexact.
    //! Time in which the noise rises at most by a factor of e: an unknown path looks like
    //! noise.
    double noise_rises_s = 8;
    float largest_rise = 3;    //!< of the noise used in fitting, over the recent lowest
    float min_noise = 1e-5f;   //!< of the power of all taps
    float model_noise = 3e-3f; //!< the same in fitting
    float min_freedom = 0.3f;  //!< least share of the rows not used up by the fitted
                               //!< taps

    // Which taps are solved for.
    float min_tap_over_noise = 0.04f; //!< power against a row's noise. Swept
    float min_tap = 2e-5f;            //!< power against the strongest: rounding

    // Looks at all delays.
    double profile_every_s = 0.1;
    //! Observations this near count as one moment: short against fading, 0.12 of its
    //! period.
    double profile_near_s = 0.025, profile_near_periods = 0.12;
    //! Time over which the profile is averaged, and limits of one look's share in it.
    double profile_memory_s = 0.8, min_share = 0.1, largest_share = 0.4;
    float empty_tap = 1e-4f; //!< power of a delay without a path, relative to the mean
    /*! \brief Power given to a neighbour tap: a drifting path moves to it, and a path
     *         between two taps is on both. With dense known symbols a new path soon
     *         shows by itself.
     */
    float next_tap_sparse = 0.2f, next_tap_dense = 1e-3f;
    //! Residual power on a delay that makes it a path, relative to noise there: exp(-14)
    //! of 60 delays ten times a second, by chance once in half an hour.
    float path_found = 14;
    int paths_at_once = 3;

    // Learning delays on the preamble, see reception_plan::learns_delays.
    int learn_rounds = 6;          //!< then the profile hardly changes
    double learn_early_s = 0.005;  //!< search this far before the window
    double learn_empty_s = 0.0025; //!< left empty before the first path
    float learn_path = 0.05f;      //!< least power of a path, relative to the strongest:
                                   //!< -13 dB
    //! Residual relative to the preamble's estimate above which nothing was learned.
    float learn_better = 0.5f;
    float learn_least_tap = 1e-6f; //!< power of a delay, relative to all

    // Intermittent interference.
    double burst_s = 0.001;           //!< averaging time
    double burst_piece_s = 1 / 300.0; //!< time with a constant channel
    float burst_found = 6; //!< power relative to the expected; noise does that once in
                           //!< hours
    float burst_known = 2; //!< the same once it is known
};

//! How to follow waveforms of data and probe symbols.
struct frame_plan {
    double window_margin_s = 0.0025; //!< of delays to keep empty, see window_error()
    double retune_hz = 0.2;          //!< largest error of the oscillator against the loop
    //! Largest error of the rows' clock against the measured one, half symbols in the
    //! estimator's window.
    double clock_rows = 0.05;
    //! Length of one observation of data: short against fading and a turn of the phase.
    double data_piece_s = 32 / 2400.0;
    //! Time after the first symbol from which level steps count.
    double settled_s = 1 / 60.0;
    double recent_s = 0.2;    //!< frames that decide whether the signal was present
    size_t learn_pieces = 12; //!< pieces of the preamble for learning delays: 0.2 s
    //! Stretches between two choices of the fading class, 0.2 s, and weight of the
    //! earlier stretches.
    size_t look_every = 12;
    double still_counts = 0.85;
    //! Variance of beliefs, relative to the symbols' power, above which data are guesses.
    //! Guesses fit anything received, so then only the known symbols tell the SNR.
    double guessed = 0.05;
};

/*! \brief How to follow Walsh words without probes. A set is a word of 32 chips.
 *  \details For numbers without a reason, laboratory/results/measurements/reception-plans.md, "Numbers of the
 *  reception plans", shows other values, or that none were tried.
 */
struct walsh_plan {
    /*! Delays: 10 ms after the path found by acquisition (which is 5.4 ms after delay 0),
     * and 10 ms before it, as the first path may have been in a slow fade.
     */
    double early_s = 0.010, late_s = 0.0158;
    //! A long block at 100 parts per million drifts by 0.5 ms.
    double window_margin_s = 1 / 600.0;
    size_t recent_sets = 24; //!< averaged, as a single good score may be chance
    size_t min_sets = 8;     //!< least number without a signal until it is lost
    float overlap = 1.77f;   //!< half-symbol taps that share the energy of a path
    //! Two deviations of the learned power of a tap without a path, relative to the noise
    //! after despreading. Many such taps together would cost a dB.
    float by_chance = 0.3f;
    //! Score of a signal: (best - mean of the others) / standard deviation on noise.
    //! Noise gives about 1, other signals up to 2.
    float present = 2.4f;
    //! Weight of the newest set in the mean score of wrong words, while it rises and falls.
    float level_rises = 1 / 6.0f, level_falls = 1 / 24.0f;
    //! Weights of the newest set in profile and noise.
    float profile_share = 1 / 24.0f, noise_share = 1 / 64.0f;
    //! Frequency: sets per update, least share of the power that turns in step, least
    //! error that is corrected, share of it that is corrected.
    size_t sets_per_update = 32;
    size_t sets_per_turn = 1; //!< sets between two measured phases
    float in_step = 0.5f;
    double min_error_hz = 0.2, correction = 0.4;
    /*! The report measures one set in 14, at least three of a block, on half a set more.
     * All chips around must be decided: this many sets before and after it.
     */
    size_t measured_sets = 14, sets_before = 4, sets_after = 3;
    //! Rounds with phases at the end of a block, at efforts 1 and 2. None at effort 0.
    size_t rounds = 2, max_rounds = 4;
    //! Longest averaging of phases, as a standard deviation, sets: 0.4 s of words of
    //! 13.3 ms.
    double widest_average = 32;
    //! Some transmitters send the last word of a block from the usual set: decide by the
    //! received words.
    bool either_last_word = false;
};

//! How to follow and detect a transmission: one record for each mode.
struct reception_plan {
    // Presence of the signal.
    /*! \brief Least share of a probe's power that the channel estimate must explain. Well
     *         below that of the weakest usable signal, above that of fitted noise.
     */
    float presence = 0.25f;
    /*! \brief A preamble during a transmission takes over if that transmission had ended.
     *         A tracker may need this long to notice the end, s: some frames.
     */
    double judged_after_s = 0.5;

    //! Rounds between channel estimation, equaliser and decoder after the first, at
    //! efforts 1 and 2; none at effort 0. Most blocks no longer change after one or two.
    size_t rounds = 4, max_rounds = 10;

    // The channel.
    //! Classes of fading, ascending; the first has from_hz = 0. A single class fixes the
    //! pace.
    std::vector<fading_class> paces{ fading_class{} };
    //! Probes so far apart that fast fading leaves no correlation between two of them.
    //! Then their power tells the spread, see doppler_meter.
    bool clean_spread = false;
    //! Return to a slower class below this share of the limit.
    double back_at = 0.8;
    //! Look for new paths. With dense known symbols the profile finds them, and data
    //! residuals would count as paths.
    bool finds_paths = false;
    //! Estimate delays and noise again on the preamble, in pieces short against fading:
    //! for preambles long enough to hold fast fading.
    bool learns_delays = false;
    //! Undo level steps: if known symbols are too rare to follow them.
    bool follows_level = false;
    //! Follow the sender's sample clock: needed if 100 ppm move paths by half symbols
    //! within the estimator's window. Otherwise the estimator's look at all delays is enough.
    bool follows_clock = false;
    //! Frames observed beyond the current one.
    size_t look_ahead = 4;
    estimator_plan estimator;
    frame_plan frames;
    walsh_plan walsh; //!< of spread modes

    //! Longest stretch of the preamble observed at once, s: short against fading, or the
    //! distance between probes.
    double preamble_piece_s = 0.02;
};

} // namespace gr::hf::kernel
