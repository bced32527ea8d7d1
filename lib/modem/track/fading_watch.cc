/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/fading_watch.h"

#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

double frame_s(const description& d)
{
    return static_cast<double>(d.frame_symbols()) / d.symbol_rate_bd;
}

} // namespace

fading_watch::fading_watch(const description& d,
                           const reception_plan& plan,
                           double piece,
                           double hz)
    : d_plan(plan), d_symbol_rate_bd(d.symbol_rate_bd),
      d_fine_preamble(piece < static_cast<double>(d.frame_symbols())),
      d_frames(frame_s(d)), d_stretches(frame_s(d), plan.clean_spread),
      d_preamble(piece / d.symbol_rate_bd), d_hz(hz)
{
}

std::complex<float> fading_watch::turn(double centre,
                                       double hz,
                                       const half_symbol_stream& y,
                                       const channel_estimator& e)
{
    const double seconds = (centre - d_at) / d_symbol_rate_bd;
    d_turns += (hz + d_hz) / 2 * seconds;
    d_turns -= std::floor(d_turns);
    d_at = centre;
    d_hz = hz;
    const double turns = y.phase(2 * e.centre()) - d_turns;
    return std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
}

bool fading_watch::look(const channel_estimator& e,
                        std::complex<float> turn,
                        bool in_preamble)
{
    if (d_plan.paces.size() < 2 || e.momentary().empty())
        return false;
    auto taps = e.momentary();
    for (auto& g : taps)
        g *= turn;
    if (in_preamble && d_fine_preamble) {
        d_preamble.add(std::move(taps));
        return false;
    }
    d_stretches.add(std::move(taps));
    if (++d_since_look < d_plan.frames.look_every)
        return false;
    d_since_look = 0;
    const bool changed = choose(d_stretches.spread_hz());
    d_stretches.forget(d_plan.frames.still_counts);
    return changed;
}

bool fading_watch::end_preamble()
{
    return d_preamble.added() > 0 && choose(d_preamble.spread_hz());
}

void fading_watch::move(int rows)
{
    d_frames.move(rows);
    d_stretches.move(rows);
    d_preamble.move(rows);
}

double fading_watch::take_spread_hz()
{
    const double hz = d_frames.take_spread_hz();
    return d_pace > 0 ? d_stretches.spread_hz() : hz;
}

// True if the spread that a meter reports asks for another pace.
bool fading_watch::choose(double hz)
{
    size_t pace = 0;
    const auto& paces = d_plan.paces;
    for (size_t k = 1; k < paces.size(); ++k)
        if (hz >= paces[k].from_hz * (k <= d_pace ? d_plan.back_at : 1))
            pace = k;
    return std::exchange(d_pace, pace) != pace;
}

} // namespace gr::hf::kernel
