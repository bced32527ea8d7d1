/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief How the channel is found on the fixed symbols of a preamble: for a family, before the
 *         mode is known.
 *
 * "Swept" in this file: what other values do is measured by tests/modem/plan_probe.cc, see "Numbers of
 * the reception plans" in docs/measurements.md; no derivation is known.
 */
struct synchroniser_plan {
    /*! \brief Pieces over which the correlation with known symbols is coherent, s.
     *  \details A carrier off by 75 Hz (110C C.6.3) turns by a quarter turn in one and costs
     *  0.9 dB; pieces twice as long would lose 3.9 dB.
     */
    double piece_s = 1 / 300.0;
    //! Window of delays, s: 5.4 ms before the first path seen, 7 ms behind it (5 ms of Table XVI,
    //! the pulse on both sides).
    double window_s = 0.0125;
    //! Of it before the first path: an earlier one may be in a fade.
    double lead_s = 0.0054;
    //! The first path may be so far before the strongest: the longest delay that is received.
    double search_s = 0.010;
    //! Fine offset: range to either side and steps of the first look, Hz. Half of the search's
    //! widest step, 12.8 Hz; a step costs under 0.1 dB over 288 symbols.
    double fine_range_hz = 6, fine_step_hz = 0.5;
    //! Delays that tell the offset: of the strongest one's power. Swept.
    float strong_delay = 0.3f;
    //! Power from which on a delay counts as a path, of the strongest one's: -12 dB. Swept.
    float least_path = 0.06f;
    //! The same where the pattern is periodic: above its side peaks of a half.
    float least_path_periodic = 0.4f;
    //! The same against the mean power of noise: by chance less than once in 1000 delays.
    float least_path_over_noise = 8;
    //! Least power of one half of a periodic pattern against the other's: a lone probe amid data
    //! is one half of it, and comes in every frame.
    float other_half = 0.1f;
    //! Rounds of estimating the profile of delays and the noise; after the third they hardly
    //! change.
    int rounds = 3;
    //! Independent rows of all: the matched filter leaves 1.35 / 2 of the band.
    float independent_rows = 0.67f;
    //! Power of a tap against what noise alone gives it, below which it is left out of the matched
    //! filter, where it would cost some dB on a weak signal: noise alone leaves exp(-4) of the taps,
    //! one of 55. Swept.
    float certain_tap = 4;
    //! Power of the first path's tap, of the strongest one's: where symbols are said to arrive.
    float first_path = 0.1f;
};

//! How quick a channel is followed: the series of channel_estimator.
struct fading_pace {
    double spread_hz = 1;     //!< two-sigma Doppler spread that the series is made for
    size_t terms = 3;         //!< of the series in time
    double window_s = 0.12;   //!< observations this far from the target count
    size_t max_selected = 20; //!< taps that are solved for
    //! Half-symbol rows over which the channel is taken as constant; 0: a whole observation.
    size_t rows = 0;
};

//! A pace, and from which measured Doppler spread on it is right.
struct fading_class {
    double from_hz = 0;
    fading_pace pace;
    //! Symbols over which the equaliser takes the channel as constant.
    size_t sub_block = 16;
    //! The pace with the data of a block as known symbols; terms = 0: the same.
    fading_pace refined{ 1, 0, 0, 0, 0 };
};

//! What a channel estimator takes for noise, for a path and for interference.
struct estimator_plan {
    // Noise. Below these shares of the signal's power the model itself is not exact.
    //! By a factor of e in so long at most: a path that is not known yet looks like noise.
    double noise_rises_s = 8;
    float largest_rise = 3;     //!< of the noise over the lowest of late, in fitting
    float least_noise = 1e-5f;  //!< of the power of all taps
    float model_noise = 3e-3f;  //!< the same in fitting
    float least_freedom = 0.3f; //!< share of the rows that the fitted taps leave at least

    // Which taps are solved for.
    float least_tap_over_noise = 0.04f; //!< power against a row's noise. Swept
    float least_tap = 2e-5f;            //!< power against the strongest: rounding

    // Looks at all delays.
    double profile_every_s = 0.1;
    //! Observations so near count as one moment: short against fading, 0.12 of its period.
    double profile_near_s = 0.025, profile_near_periods = 0.12;
    //! Time over which the profile is averaged, and limits of a look's share in it.
    double profile_memory_s = 0.8, least_share = 0.1, largest_share = 0.4;
    float empty_tap = 1e-4f; //!< power of a delay without a path, of the mean one
    /*! \brief A path that drifts comes to the next tap; one between two taps is on both. Where
     *         there is much to see one that was not there soon shows.
     */
    float next_tap_sparse = 0.2f, next_tap_dense = 1e-3f;
    //! Power of what is left on a delay, against what noise would leave there, that makes it a
    //! path: exp(-14) of 60 delays ten times a second, by chance once in half an hour.
    float path_found = 14;
    int paths_at_once = 3;

    // Learning delays over the preamble, reception_plan::learns_delays.
    int learn_rounds = 6;          //!< after which the profile hardly changes
    double learn_early_s = 0.005;  //!< looked at before the window
    double learn_empty_s = 0.0025; //!< that stays empty before the first path
    float learn_path = 0.05f;      //!< power of a path, of the strongest: -13 dB
    //! Noise that is left, of what the preamble's estimate left: else nothing was learned.
    float learn_better = 0.5f;
    float learn_least_tap = 1e-6f; //!< power of a delay, of all

    // Interference that comes and goes.
    double burst_s = 0.001;           //!< over which it is averaged
    double burst_piece_s = 1 / 300.0; //!< over which the channel is taken as constant
    float burst_found = 6; //!< power against what is expected; noise once in hours
    float burst_known = 2; //!< the same once it is known
};

//! How waveforms of data and probe symbols are followed.
struct frame_plan {
    double window_margin_s = 0.0025; //!< of delays that stays empty, see window_error()
    double retune_hz = 0.2;          //!< how far the oscillator may be off the loop
    //! How far the clock of the rows may be off the measured one, half symbols in the estimator's
    //! window.
    double clock_rows = 0.05;
    //! One observation of data: short against fading and a turn of the phase.
    double data_piece_s = 32 / 2400.0;
    //! Time after the first symbol from which on a step of the level is none of the signal's.
    double settled_s = 1 / 60.0;
    double recent_s = 0.2;    //!< frames that decide whether the signal was there
    size_t learn_pieces = 12; //!< of the preamble that delays are learned from: 0.2 s
    //! Stretches between two looks at the class of fading, 0.2 s, and what counts of those before.
    size_t look_every = 12;
    double still_counts = 0.85;
    //! Variance of beliefs, of the symbols' power, above which data are guessed: guesses fit
    //! whatever was received, and then the known symbols alone tell the SNR.
    double guessed = 0.05;
};

/*! \brief How Walsh words without probes are followed. Sets: words of 32 chips.
 *  \details Of numbers without a reason docs/measurements.md, "Numbers of the reception plans", says what
 *  others do, and which of them were not tried.
 */
struct walsh_plan {
    /*! Delays: those of acquisition, 10 ms after the path it found (which is 5.4 ms after delay 0)
     *  and 10 ms before it, since in slow fading the first path may have been away then. */
    double early_s = 0.010, late_s = 0.0158;
    //! A long block at 100 parts per million drifts by 0.5 ms.
    double window_margin_s = 1 / 600.0;
    size_t recent_sets = 24; //!< a single good score may be chance
    size_t least_sets = 8;   //!< without a signal until it is lost
    float overlap = 1.77f;   //!< half-symbol taps on which the energy of a path appears
    //! Two deviations of what is learned on a tap without a path, in units of the noise after
    //! despreading: many such taps together would cost a dB.
    float by_chance = 0.3f;
    //! (best - mean of the others) / standard deviation on noise; noise gives about 1, other
    //! signals up to 2.
    float present = 2.4f;
    //! Shares of the newest set in the level of wrong words, rising and falling.
    float level_rises = 1 / 6.0f, level_falls = 1 / 24.0f;
    //! Shares of the newest set in profile and noise.
    float profile_share = 1 / 24.0f, noise_share = 1 / 64.0f;
    //! Frequency: sets per update, share of the power that must turn in step, least error that
    //! is corrected, share of it that is.
    size_t sets_per_update = 32;
    size_t sets_per_turn = 1; //!< from one of these to the next
    float in_step = 0.5f;
    double least_error_hz = 0.2, correction = 0.4;
    /*! The report rests on one set in so many, at least three of a block, on half a set more, and
     *  on all chips around being decided ones: so many sets before and after it. */
    size_t measured_sets = 14, sets_before = 4, sets_after = 3;
    //! Rounds with phases at the end of a block, at efforts 1 and 2; at 0 there are none.
    size_t rounds = 2, most_rounds = 4;
    //! Longest averaging of phases, a standard deviation, sets: 0.4 s of words of 13.3 ms.
    double widest_average = 32;
    //! Some transmitters send the last word of a block from the usual set: tell by what comes.
    bool either_last_word = false;
};

//! How a transmission is followed and detected: one record for each mode.
struct reception_plan {
    // Whether the signal is there.
    /*! \brief Share of a probe's power that the channel estimate must explain: well under what
     *         the weakest usable signal gives, above what fitting noise gives.
     */
    float presence = 0.25f;
    /*! \brief A preamble during a transmission takes over if that one was not there any more; a
     *         tracker may need so long to tell, s: some frames.
     */
    double judged_after_s = 0.5;

    //! Rounds between channel estimation, equaliser and decoder after the first, at efforts 1 and
    //! 2; at 0 there are none. Most blocks stand still after one or two.
    size_t rounds = 4, most_rounds = 10;

    // The channel.
    //! Classes of fading, ascending; the first has from_hz = 0. With one alone the pace is fixed.
    std::vector<fading_class> paces{ fading_class{} };
    //! Probes so far apart that fast fading leaves no correlation over two of them: their power tells
    //! the spread, see doppler_meter.
    bool clean_spread = false;
    //! Back to a slower class below this share of the limit.
    double back_at = 0.8;
    //! Look for paths that were not there before. Where known symbols are dense, the profile finds
    //! them by itself, and what data leaves would be taken for paths.
    bool finds_paths = false;
    //! Find delays and noise anew over the preamble, in pieces short against fading: where it is
    //! long enough to hold fast fading.
    bool learns_delays = false;
    //! Take steps of the level back: where known symbols are too rare to follow them.
    bool follows_level = false;
    //! Follow the sender's sample clock: where 100 ppm move paths by half symbols in the estimator's
    //! window. Elsewhere its looks at all delays do.
    bool follows_clock = false;
    //! Frames observed beyond the one that is worked on.
    size_t look_ahead = 4;
    estimator_plan estimator;
    frame_plan frames;
    walsh_plan walsh; //!< of spread modes

    //! Longest stretch of the preamble observed at once, s: short against fading, or as far apart
    //! as probes are.
    double preamble_piece_s = 0.02;
};

} // namespace gr::hf::kernel
