/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/plans.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::hf::kernel::wideband {

namespace {

// Probes this close follow fading without the data.
constexpr double dense_s = 0.07;
// Bandwidth of voice transceivers, with their filters.
constexpr int ssb_khz = 3;

/* Times counted in symbols or words grow with the bandwidth. \p n is the number for
 * 3 kHz. */
size_t times(size_t n, const waveform_row& w)
{
    return n * static_cast<size_t>(w.bandwidth_khz) / 3;
}

// Waveform 0: words of 13.3 ms in 3 kHz, shorter ones in wider bands.
walsh_plan walsh_of(const waveform_row& w)
{
    walsh_plan p;
    const auto wider = static_cast<float>(w.bandwidth_khz) / 3;
    p.recent_sets = times(p.recent_sets, w);
    p.min_sets = times(p.min_sets, w);
    p.level_rises /= wider;
    p.level_falls /= wider;
    p.profile_share /= wider;
    p.noise_share /= wider;
    p.sets_per_turn = times(p.sets_per_turn, w);
    p.measured_sets = times(p.measured_sets, w);
    p.sets_before = times(p.sets_before, w);
    p.sets_after = times(p.sets_after, w);
    p.widest_average *= static_cast<double>(wider);
    p.either_last_word = true;
    return p;
}

/* Probes 27 to 60 ms apart follow 10 Hz while the window holds two on either side. With
 * data as known symbols the window may be as short as for the serial tone. */
std::vector<fading_class> quick_paces(const waveform_row& w)
{
    fading_class quick, quicker;
    quick.from_hz = 3.5;
    quick.pace = { 7, 9, 0.1, 18, times(20, w) };
    quick.refined = { 7, 5, 0.055, 18, times(20, w) };
    quick.sub_block = times(12, w);
    quicker.from_hz = 7;
    quicker.pace = { 12, 13, 0.08, 16, times(16, w) };
    quicker.refined = { 12, 7, 0.045, 16, times(16, w) };
    quicker.sub_block = times(8, w);
    return { quick, quicker };
}

// Share of a probe that is certainly signal: less for waveforms for weaker signals.
float presence_of(const waveform_row& w)
{
    switch (w.wid) {
    case 1:
        return 0.13f;
    case 2:
        return 0.17f;
    case 3:
    case 4:
        return 0.25f;
    default:
        return 0.35f;
    }
}

} // namespace

reception_plan plan_of(const waveform_row& w)
{
    reception_plan p;
    p.walsh = walsh_of(w);
    p.presence = presence_of(w);
    const double frame_s =
        static_cast<double>(w.unknown + w.known) / (800.0 * w.bandwidth_khz);
    const bool dense = frame_s < dense_s;
    // Three frames, or the time it takes to notice a fade.
    p.judged_after_s = dense ? 0.5 : 0.7;
    // Eight probes, 0.12 s apart, follow fading of 1 Hz with a loss of 0.8 to 1.4 dB.
    fading_class f;
    f.sub_block = times(f.sub_block, w);
    f.pace.terms = 6;
    f.pace.spread_hz = 1;
    f.pace.window_s = 0.42;
    // The filter of an SSB receiver rings on each path.
    if (w.bandwidth_khz == ssb_khz)
        f.pace.max_selected = 60;
    f.pace.rows = times(32, w);
    // A series of so few terms fits its fading only this far. A block in a fade cannot
    // make up for the error.
    f.refined = f.pace;
    f.refined.terms = 4;
    f.refined.window_s = 0.2;
    p.paces = { f };
    p.follows_clock = w.bandwidth_khz > ssb_khz;
    p.clean_spread = dense;
    if (dense)
        for (const fading_class& quick : quick_paces(w))
            p.paces.push_back(quick);
    p.finds_paths = true;
    // Level steps confuse QAM amplitudes.
    p.follows_level = true;
    p.look_ahead = dense ? static_cast<size_t>(std::ceil(0.24 / frame_s)) : 2;
    return p;
}

} // namespace gr::hf::kernel::wideband
