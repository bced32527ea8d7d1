/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_estimator.h"
#include "modem/track/channel_report.h"
#include "waveform/description.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Measures how fast the channel fades, and chooses the pace of the plan that fits.
 *
 * Three Doppler meters: of each frame's estimate, of each stretch of known symbols alone,
 * and of pieces of the preamble where these lie closer together than probes. The first is
 * the most exact, the others still see fading that the estimator does not follow.
 */
class fading_watch
{
public:
    /*! \param piece  symbols of the preamble in a stretch
     *  \param hz     carrier offset
     */
    fading_watch(const description& d,
                 const reception_plan& plan,
                 double piece,
                 double hz);

    /*! \brief Factor that refers the taps of the estimator's last solve() to the carrier.
     *  \param centre of the stretch, symbols
     *  \param hz     carrier offset there
     */
    std::complex<float> turn(double centre,
                             double hz,
                             const half_symbol_stream& y,
                             const channel_estimator& e);

    /*! \brief Look at the newest stretch of known symbols alone.
     *  \param turn see turn()
     *  \returns true if pace() has changed
     */
    bool look(const channel_estimator& e, std::complex<float> turn, bool in_preamble);

    //! The preamble is over. Returns true if pace() has changed.
    bool end_preamble();

    //! All taps in the middle of the next frame, referred to the carrier by turn().
    void add(std::vector<std::complex<float>> taps) { d_frames.add(std::move(taps)); }

    //! Follow half_symbol_stream::move().
    void move(int rows);

    //! The pace of fading, from the plan.
    const fading_class& pace() const { return d_plan.paces[d_pace]; }

    //! Two-sigma spread since the last call, Hz.
    double take_spread_hz();

private:
    bool choose(double hz);

    const reception_plan& d_plan;
    double d_symbol_rate_bd;
    bool d_fine_preamble; // its pieces are shorter than a frame
    doppler_meter d_frames, d_stretches, d_preamble;
    size_t d_pace = 0, d_since_look = 0;    // index in the plan; stretches
    double d_at = 0, d_hz = 0, d_turns = 0; // the carrier at the last turn()
};

} // namespace gr::hf::kernel
