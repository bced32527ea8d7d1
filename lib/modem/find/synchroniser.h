/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/half_symbol_stream.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/sparse_equations.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! The channel, as measured on a stretch of known symbols.
struct synchronised {
    double origin =
        0;         //!< input sample of half-symbol row 0 of the stretch, at delay tap 0
    double hz = 0; //!< carrier offset
    float correlation = 0;      //!< power of the correlation with the known symbols, at
                                //!< the strongest delay
    std::vector<float> profile; //!< power of each delay tap
    std::vector<std::complex<float>> taps; //!< certain taps; the others are 0
    float noise = 1;                       //!< variance of a half-symbol row
    float gain = 0;                        //!< Es / N0 is gain / noise
    //! Mean power of the signal in a row of random symbols, over the two rows of a
    //! symbol.
    float row_power = 0;
};

/*! \brief Measures carrier offset, delays, channel and noise on known symbols whose place
 *         is roughly known.
 *
 * The phases of the pieces give the fine frequency, the correlation profile gives the
 * delays. Least squares gives channel and noise in rounds; the profile of each round is
 * the prior of the next. Above dense_delays, it solves only for delays that carry energy.
 */
class synchroniser
{
public:
    //! \p plan outlives this.
    synchroniser(const symbol_grid& grid, const synchroniser_plan& plan);

    //! Number of delay taps in the window.
    size_t taps() const { return static_cast<size_t>(d_taps); }
    //! Delay of the first path in the window, half symbols.
    size_t lead() const { return static_cast<size_t>(d_lead); }

    /*! \brief Input samples needed after the first one of a stretch, for run() and for
     *         matching \p symbols symbols through the channel found.
     */
    int64_t reach(size_t fixed, size_t symbols) const;
    //! Input samples needed before the first one of a stretch.
    int64_t reach_before() const;

    //! Where a stretch may be: what is known before its channel is measured.
    struct located {
        int64_t start = 0;        //!< input sample of the first symbol, on any path
        double hz = 0;            //!< carrier offset
        std::vector<float> power; //!< of the correlation, by delay
        size_t peak = 0;          //!< its largest
        float correlation() const { return power[peak]; }
    };

    /*! \brief Find offset and delays, at a tenth of the cost of run().
     *  \param start input sample of the first symbol, on any path
     *  \param hz carrier offset, within the plan's fine range
     *  \param fixed the symbols, 0 where unknown
     *  \param periodic see search_pattern
     *  \returns nothing if this is certainly no such stretch
     */
    std::optional<located> locate(const sample_buffer& in,
                                  int64_t start,
                                  double hz,
                                  const std::vector<std::complex<float>>& fixed,
                                  bool periodic) const;

    //! Measure the channel of what was located.
    std::optional<synchronised> run(const sample_buffer& in,
                                    const located& l,
                                    const std::vector<std::complex<float>>& fixed,
                                    bool periodic) const;

    /*! \brief Look for paths outside of the window in what run() left of the fixed
     *         symbols, and measure the channel again in a wider window if there are any.
     *  \details Known symbols that repeat themselves, as probes do, show a path at several
     *  delays. A long preamble shows it at one. So later looks only need to believe this
     *  profile.
     */
    void widen(synchronised& s,
               const sample_buffer& in,
               const std::vector<std::complex<float>>& fixed) const;

private:
    using value = std::complex<float>;
    using values = std::vector<value>;

    std::optional<half_symbol_stream>
    rows_at(const sample_buffer& in, int64_t start, double hz, const values& fixed) const;
    values at_all_delays(const half_symbol_stream& y, const values& fixed) const;
    double fine_offset(const half_symbol_stream& y, const values& fixed) const;
    size_t first_path(const std::vector<float>& power, float least) const;
    void estimate(synchronised& s,
                  const sample_buffer& in,
                  const values& fixed,
                  float known,
                  float power_in) const;
    static sparse_equations
    equations_of(const value* rows, size_t delays, const values& fixed, float power);
    float noise_left(const sparse_equations& e, float freedom, float power) const;
    void pursue(sparse_equations& e, float power_in) const;
    std::optional<sparse_equations> of_clean_rows(const sparse_equations& found,
                                                  const value* rows,
                                                  const values& fixed,
                                                  const synchronised& s,
                                                  float power_in) const;
    std::vector<float> without_side_peaks(const half_symbol_stream& y,
                                          const values& fixed,
                                          float known,
                                          float power_in) const;
    void estimate_all(synchronised& s,
                      const half_symbol_stream& y,
                      const values& fixed,
                      float known,
                      float power_in) const;
    void estimate_sparse(synchronised& s,
                         const half_symbol_stream& y,
                         const values& fixed,
                         float known,
                         float power_in) const;

    symbol_grid d_grid;
    const synchroniser_plan* d_plan;
    int64_t d_taps, d_lead, d_search; // half symbols
    size_t d_piece;                   // symbols
};

} // namespace gr::hf::kernel
