/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/plans.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel::wideband {

namespace {

// Probes so near each other follow fading by themselves, without the data.
constexpr double dense_s = 0.07;

/* What is a time, and is counted in symbols or words, grows with the bandwidth; the numbers are
 * those of 3 kHz. */
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
    p.least_sets = times(p.least_sets, w);
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

// Share of a probe that is certainly signal: less of it where the waveform is for weaker ones.
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
    // Three frames, or as long as it takes to see a fade.
    p.judged_after_s = dense ? 0.5 : 0.7;
    // Probes 0.12 s apart follow 1 Hz: eight of them, receiver-notes section 4.
    fading_class f;
    f.sub_block = times(f.sub_block, w);
    f.pace.terms = 6;
    f.pace.spread_hz = 1;
    f.pace.window_s = 0.42;
    f.pace.rows = times(32, w);
    p.paces = { f };
    // Further away a series of so few terms no longer follows the fading it is made for, and a
    // block in a fade has nothing to make up for that.
    p.refined = f.pace;
    p.refined.terms = 4;
    p.refined.window_s = 0.2;
    p.finds_paths = true;
    // QAM cannot be told from its level.
    p.follows_level = true;
    p.look_ahead = dense ? static_cast<size_t>(std::ceil(0.24 / frame_s)) : 2;
    return p;
}

} // namespace gr::hf::kernel::wideband
