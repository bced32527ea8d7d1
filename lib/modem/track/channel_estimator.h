/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/detect/channel_view.h"
#include "modem/detect/linear_algebra.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_equations.h"
#include "modem/track/sparse_equations.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Follows a fading channel through the known symbols of a transmission.
 *
 * Each tap is taken as a Gaussian process with correlation exp(-(pi d t)^2 / 2), d being
 * the two-sigma Doppler spread, and the prior power of the delay power profile. Around any
 * time that process is the series
 *
 *     g(t) = sum_m theta_m exp(-c t^2/2) (sqrt(c) t)^m / sqrt(m!),   c = (pi d)^2,
 *
 * with independent theta_m of the tap's power; cut after a few terms, all observations in a
 * window are solved for theta jointly (MMSE). That is Wiener interpolation in time and
 * delay at once, whatever the known symbols are.
 */
class channel_estimator : public channel_view
{
public:
    struct options {
        size_t taps = 32;          //!< window of delays, half symbols
        double symbol_rate_bd = 0; //!< symbols/s
        fading_pace fading;
        //! Look for paths that were not there before. Where known symbols are dense, the profile
        //! finds them by itself, and what data leaves would be taken for paths.
        bool finds_paths = false;
        estimator_plan plan;
    };

    channel_estimator(const options& o, std::vector<float> profile, float noise);

    /*! \brief Add what was received of symbols \p begin .. \p end - 1.
     *  \param exact_rows the rows of these symbols only (neighbours are known too);
     *  otherwise the echoes after the last symbol as well
     */
    void observe(const half_symbol_stream& y,
                 int64_t begin,
                 int64_t end,
                 const belief_function& beliefs,
                 bool exact_rows);

    /*! \brief Find delays and noise anew from known symbols \p begin .. \p end - 1, in pieces
     *         short against any fading.
     *  \details Taken over if they leave much less than what was given in the beginning, from an
     *  estimate that took the channel as constant: then it is not. A path that was away on average
     *  may have been missed, and lie before the window.
     *  \returns by how many rows \p y has to be moved, in front of any observation
     */
    int learn(const half_symbol_stream& y,
              int64_t begin,
              int64_t end,
              int64_t piece,
              const belief_function& beliefs);

    //! Follow another pace from the next solve() on.
    void set_pace(const fading_pace& p);

    //! Outputs of \p y from \p row on are others than they were: take them over.
    void refresh(const half_symbol_stream& y, int64_t row);

    /*! \brief Look for interference that comes and goes on the observations of symbols
     *         \p begin .. \p end - 1, with the channel of the last solve(): where for about a
     *         millisecond much more is left than noise and unknown symbols explain.
     *  \details What is found is told to \p y, and these observations count less. Another
     *  solve() takes that into account.
     *  \returns whether any was found that was not known
     */
    bool find_interference(half_symbol_stream& y, int64_t begin, int64_t end);

    //! Forget observations that begin at symbol \p n or later: they are to come again.
    void forget_from(int64_t n);
    //! Forget observations that end before symbol \p n.
    void forget_before(int64_t n);
    //! Take over what another estimator found out about delays and noise.
    void set_statistics(const std::vector<float>& profile, float noise);

    /*! \brief Follow half_symbol_stream::move(): what was delay tap k + \p rows becomes k.
     *  \details Needs a solve() before at().
     */
    void move(int rows);

    /*! \brief Estimate around symbol \p centre; evaluate with at().
     *  \param hz, drift the carrier expected at the centre, Hz, and its change, Hz/s: the
     *  estimate refers to it, whatever the oscillator of \p y did meanwhile.
     */
    void solve(const half_symbol_stream& y, double centre, double hz, double drift);

    //! Factor that refers row \p row of \p y to that carrier.
    std::complex<float> reference(const half_symbol_stream& y, double row) const override;

    //! The taps as symbol \p n meets them, each when that echo of it arrives; \p n near the
    //! centre of the last solve().
    void at(double n, channel_taps& g) const override;

    //! Hz by which the carrier seen by the last solve() is off the one expected.
    double frequency() const { return d_frequency; }

    /*! \brief The same from how the phase turns within the newest stretch of known symbols.
     *  \details Less exact, but stretches apart cannot tell carriers that differ by a whole
     *  turn between them, and this can.
     */
    struct slope {
        double hz = 0;
        double information = 0; //!< 1 / variance, 1/Hz^2
    };
    slope turning_within() const { return d_slope; }

    /*! \brief The taps by the newest stretch of known symbols alone, which knows nothing of how
     *         quick the channel is, all delays; empty if there is none.
     *  \details They refer to the carrier of the last solve().
     */
    const channel_taps& momentary() const { return d_momentary; }
    //! When that was, and the centre of the last solve(): on the air, symbols.
    double momentary_at() const { return d_momentary_at; }
    double centre() const { return d_centre; }

    //! Power of the taps at the centre of the last solve().
    double power() const { return d_power; }

    //! Noise variance per half-symbol sample.
    float noise() const override { return d_noise; }
    const std::vector<float>& profile() const { return d_profile; }
    //! Indices of the taps that are solved for, ascending.
    const std::vector<uint16_t>& selected() const override { return d_selected; }

    //! Share of the newest observation's power that the last estimate explains, 0..1.
    float explained() const { return d_explained; }

    /*! \brief The same of the observations that begin at symbol \p begin, less what any rows would
     *         be explained by as many numbers; 0 without any.
     */
    float explained_of(const half_symbol_stream& y, int64_t begin) const;

    double window_s() const { return d_o.fading.window_s; }

private:
    struct observation {
        int64_t begin, end; // symbols
        int64_t first_row, last_row;
        int moved = 0; // rows since: tap k is what tap k + moved was then
        std::vector<std::complex<float>> signal; // known signal from first_row - taps
        std::vector<float> foreign;              // power of unknown symbols per row
        std::vector<std::complex<float>> y;
        // normal equations on the selected taps
        tap_equations equations;
        unsigned version = 0; // of the selection

        //! On the air, symbols: when its rows came, which is when the taps were so.
        double time() const
        {
            return (static_cast<double>(first_row + last_row) - 1) / 4;
        }
        /*! \brief What the taps \p g leave of row \p r, turned by \p turn.
         *  \param which the taps, of a window of \p taps
         */
        std::complex<float> left_of(size_t r,
                                    std::complex<float> turn,
                                    const channel_taps& g,
                                    const std::vector<uint16_t>& which,
                                    size_t taps) const
        {
            std::complex<float> e = y[r] * turn;
            for (size_t a = 0; a < g.size(); ++a)
                if (const auto tap = static_cast<size_t>(which[a] + moved); tap <= taps)
                    e -= g[a] * signal[r + taps - tap];
            return e;
        }
    };
    using stretch = std::pair<size_t, size_t>; // observations of one call of observe()

    void normal_equations(observation& o) const;
    void add_missing(const half_symbol_stream& y, observation& o) const;
    void select();
    float fitting_noise() const;
    void update_statistics(const half_symbol_stream& y);
    void look_at_all_delays(const half_symbol_stream& y, double around, double since);
    void look_at_sparse_delays(const half_symbol_stream& y, double around, double since);
    sparse_equations sparse_around(const half_symbol_stream& y, double around) const;
    bool find_path(sparse_equations& e, float sigma, std::vector<float>& prior);
    std::vector<float> prior_of_taps() const;
    stretch before_centre() const;
    void look_at_stretch(const stretch& w, const half_symbol_stream& y);
    void taps_at(double time, channel_taps& g) const;
    float beyond_series(double time) const;
    //! Half-symbol rows of a time.
    int64_t rows(double seconds) const
    {
        return symbol_grid(d_o.symbol_rate_bd).half_symbols(seconds);
    }

    options d_o;
    channel_taps d_momentary;
    double d_momentary_at = 0;
    double d_freedom = 0; // numbers that the last solve() fitted
    float d_fitted = 0;   // the same for each row
    std::vector<float> d_profile;
    float d_noise;
    float d_first_noise;
    float d_lowest_noise; // of late
    double d_lowest_at = 0;
    std::vector<uint16_t> d_selected;
    unsigned d_version = 0;
    std::deque<observation> d_observations;
    hermitian_solver d_solver;
    std::vector<std::complex<float>> d_theta; // [term][selected]
    double d_centre = 0, d_hz = 0, d_drift = 0;
    double d_frequency = 0, d_power = 0;
    slope d_slope;
    float d_explained = 1;
    double d_profile_at = 0; // symbol of the last look at all delays
};

} // namespace gr::hf::kernel
