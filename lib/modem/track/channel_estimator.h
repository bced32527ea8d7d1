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

/*! \brief Noise variance per half-symbol sample, as measured over time.
 *  \details An unknown path looks like noise, too. It comes quickly, and real noise does not
 *  rise that quickly. So the lowest value of late is kept.
 */
class noise_level
{
public:
    explicit noise_level(float first) { restart(first); }

    //! Start again from a better first value.
    void restart(float first) { d_now = d_first = d_lowest = first; }
    //! Take a value of another estimator. The lowest stays.
    void set(float now) { d_now = now; }
    /*! \brief Add a measurement.
     *  \param share   of the new value in the mean
     *  \param least   result
     *  \param symbol  time of the measurement
     *  \param rises   time in which the lowest value rises by e, s
     */
    void add(float value,
             float share,
             float least,
             double symbol,
             double symbol_rate_bd,
             double rises);

    float now() const { return d_now; }
    //! As known when the transmission was acquired.
    float first() const { return d_first; }
    float lowest() const { return d_lowest; }

private:
    float d_now = 0, d_first = 0, d_lowest = 0;
    double d_at = 0; // symbol of the last measurement
};

/*! \brief Follows a fading channel by the known symbols of a transmission.
 *
 * Each tap is modelled as a Gaussian process with correlation exp(-(pi d t)^2 / 2). d is
 * the two-sigma Doppler spread, and the delay power profile gives the tap's prior power.
 * Around any time that process is the series
 *
 *  g(t) = sum_m theta_m exp(-c t^2/2) (sqrt(c) t)^m / sqrt(m!),   c = (pi d)^2,
 *
 * with independent theta_m of the tap's power. The series is cut after a few terms, and
 * all observations in a window are solved for theta jointly (MMSE). Method: Wiener
 * interpolation in time and delay at once, for any known symbols; docs/receiver.md,
 * "What each idea is worth".
 */
class channel_estimator : public channel_view
{
public:
    struct options {
        size_t taps = 32;          //!< window of delays, half symbols
        double symbol_rate_bd = 0; //!< symbols/s
        fading_pace fading;
        //! Look for new paths. With dense known symbols the profile finds them, and data
        //! residuals would count as paths.
        bool finds_paths = false;
        estimator_plan plan;

        //! Half-symbol rows in a time.
        int64_t rows(double seconds) const
        {
            return symbol_grid(symbol_rate_bd).half_symbols(seconds);
        }
    };

    channel_estimator(const options& o, std::vector<float> profile, float noise);

    /*! \brief Add the received rows of symbols \p begin .. \p end - 1.
     *  \param exact_rows true: only the rows of these symbols, as the neighbours are
     *        known too. false: also the echoes after the last symbol
     */
    void observe(const half_symbol_stream& y,
                 int64_t begin,
                 int64_t end,
                 const belief_function& beliefs,
                 bool exact_rows);

    /*! \brief Estimate delays and noise again from known symbols \p begin .. \p end - 1,
     *         in pieces short against any fading.
     *  \details The result counts only if it leaves a much smaller residual than the
     *  first values, which assumed a constant channel. It may add a path that faded on
     *  average, or that lies before the window.
     *  \returns rows by which to move \p y, before any observation
     */
    int learn(const half_symbol_stream& y,
              int64_t begin,
              int64_t end,
              int64_t piece,
              const belief_function& beliefs);

    //! Use another pace from the next solve() on.
    void set_pace(const fading_pace& p);

    /*! \brief Rows of \p y from \p first on, before \p last, have changed: read them again.
     *  \param erased true: more samples are erased, too
     */
    void refresh(const half_symbol_stream& y,
                 int64_t first,
                 int64_t last = INT64_MAX,
                 bool erased = true);

    /*! \brief Rows of symbols \p begin .. \p end - 1 without the known signal, with the
     *         channel of the last solve().
     *  \param rows where those of the observations are written; its first one is row
     *        \p first of \p y
     */
    void residual(const half_symbol_stream& y,
                  int64_t begin,
                  int64_t end,
                  int64_t first,
                  std::vector<std::complex<float>>& rows) const;

    /*! \brief Look for intermittent interference on the observations of symbols \p begin
     *         .. \p end - 1, with the channel of the last solve().
     *  \details Interference: for about a millisecond the residual far exceeds noise and
     *  unknown symbols. It is reported to \p y, and these observations count less in the
     *  next solve().
     *  \returns true if any new interference was found
     */
    bool find_interference(half_symbol_stream& y, int64_t begin, int64_t end);

    //! Drop observations that start at symbol \p n or later: they will be added again.
    void forget_from(int64_t n);
    //! Drop observations that end before symbol \p n.
    void forget_before(int64_t n);
    //! Use delays and noise found by another estimator.
    void set_statistics(const std::vector<float>& profile, float noise);

    /*! \brief Follow half_symbol_stream::move(): delay tap k + \p rows becomes tap k.
     *  \details Needs a solve() before at().
     */
    void move(int rows);

    /*! \brief Estimate around symbol \p centre; evaluate with at().
     *  \param hz, drift expected carrier at the centre, Hz, and its change, Hz/s. The
     *        estimate refers to this carrier, not to the oscillator of \p y.
     */
    void solve(const half_symbol_stream& y, double centre, double hz, double drift);

    //! Factor that refers row \p row of \p y to that carrier.
    std::complex<float> reference(const half_symbol_stream& y, double row) const override;

    //! Taps seen by symbol \p n, each at the time that echo arrives; \p n near the centre
    //! of the last solve().
    void at(double n, channel_taps& g) const override;

    //! Measured minus expected carrier in the last solve(), Hz.
    double frequency() const { return d_frequency; }

    /*! \brief Carrier error by the turn of the phase within the newest stretch of known
     *         symbols.
     *  \details Less exact than frequency(). But it can tell carriers apart that differ
     *  by a whole turn between stretches.
     */
    struct slope {
        double hz = 0;
        double information = 0; //!< 1 / variance, 1/Hz^2
    };
    slope turning_within() const { return d_newest.turning; }

    /*! \brief All taps by the newest stretch of known symbols alone, without a fading
     *         model. Empty if there is no stretch.
     *  \details They refer to the carrier of the last solve().
     */
    const channel_taps& momentary() const { return d_newest.taps; }
    //! Time of momentary(), and centre of the last solve(): on the air, symbols.
    double momentary_at() const { return d_newest.at; }
    double centre() const { return d_carrier.centre; }

    //! Power of the taps at the centre of the last solve().
    double power() const { return d_power; }

    //! Noise variance per half-symbol sample.
    float noise() const override { return d_noise.now(); }
    const std::vector<float>& profile() const { return d_profile; }
    //! Indices of the taps in use, ascending.
    const std::vector<uint16_t>& selected() const override { return d_selected; }

    //! Share of the newest observation's power that the last estimate explains, 0..1.
    float explained() const { return d_explained; }

    /*! \brief The same for observations that start at symbol \p begin, corrected for the
     *         power that any fit of as many numbers explains; 0 without observations.
     */
    float explained_of(const half_symbol_stream& y, int64_t begin) const;

    double window_s() const { return d_o.fading.window_s; }

private:
    struct observation {
        int64_t begin, end; // symbols
        int64_t first_row, last_row;
        int moved = 0; // rows moved since: tap k was tap k + moved then
        std::vector<std::complex<float>> signal; // known signal from first_row - taps
        std::vector<float> foreign;              // power of unknown symbols per row
        std::vector<std::complex<float>> y;
        // normal equations on the selected taps
        tap_equations equations;
        unsigned version = 0; // version of the selection

        //! Time on the air at which the rows arrived, symbols. The taps apply to this
        //! time.
        double time() const
        {
            return (static_cast<double>(first_row + last_row) - 1) / 4;
        }
        /*! \brief Residual of row \p r, turned by \p turn, with the taps \p g.
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
    //! What the newest stretch of known symbols tells by itself.
    struct lone_stretch {
        channel_taps taps; //!< all; empty: there is no such stretch
        double at = 0;     //!< time on the air, symbols
        slope turning;
    };
    //! The carrier that the estimate refers to.
    struct expected_carrier {
        double centre = 0;        //!< time on the air, symbols
        double hz = 0, drift = 0; //!< there; its change, Hz/s
        //! Hz at a time on the air, symbols.
        double at(double time, double symbol_rate_bd) const
        {
            return hz + drift * (time - centre) / symbol_rate_bd;
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

    options d_o;
    lone_stretch d_newest;
    double d_freedom = 0; // numbers fitted by the last solve()
    float d_fitted = 0;   // the same per row
    std::vector<float> d_profile;
    noise_level d_noise;
    std::vector<uint16_t> d_selected;
    unsigned d_version = 0;
    std::deque<observation> d_observations;
    hermitian_solver d_solver;
    std::vector<std::complex<float>> d_theta; // [term][selected]
    expected_carrier d_carrier;
    double d_frequency = 0, d_power = 0;
    float d_explained = 1;
    double d_profile_at = 0; // symbol of the last look at all delays
};

} // namespace gr::hf::kernel
