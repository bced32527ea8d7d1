/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/late_entry.h"

#include "waveform/families/wideband/plans.h"
#include "waveform/families/wideband/preamble.h"
#include "waveform/families/wideband/wideband.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gr::hf::kernel::wideband {

namespace {

using value = std::complex<float>;
using points = std::vector<value>;
using verdict = preamble_reader::verdict;

/* Time over which probes are searched for together, at least four: within it, fading of
 * 1 Hz turns the channel by less than half a period. */
constexpr double sought_s = 0.4;
constexpr size_t min_words = 4;
// Time between looks, so that one comes before the next Long block, every 6.8 to 10.2 s.
constexpr double look_every_s = 1.25;
/* Noise exceeds a score of 21 once in two hours over 35 offsets in a permanent search
 * (reception.cc). Here there are up to 70 offsets, in a fifth of the time, for each kind
 * of frame. */
constexpr float threshold = 21;
// Step of the carrier offset times the duration: half a step costs 1.1 dB.
constexpr double step_turns = 0.55;
constexpr double first_look_s = 0.02;
/* Probes so far apart leave the offset ambiguous by the inverse of their distance, mostly
 * 8.3 Hz, except for the turn within a probe. The search's steps are too wide for that.
 * So look at two ambiguous places on either side, in steps that cost a tenth of a dB over
 * all probes. */
constexpr double fine_range_hz = 19, fine_step_hz = 0.3;
/* clear_lead: lead of the shifted probe over the usual one, in deviations of the noise.
 * Without either probe, noise has this lead once in 1100 frames; trial decoding then has
 * the last word. present: least score of either probe. */
constexpr float clear_lead = 7, present = 8;
/* beside_usual: least ratio of the shifted probe to the usual one. An echo late by the
 * shift reaches half the amplitude of the strongest path only where both probes are
 * alike. min_share: the power must agree with the neighbouring probes, apart from
 * fading. */
constexpr float beside_usual = 2, min_share = 0.25f;
// Without a probe for longer than most fades there is nothing to join.
constexpr double patience_s = 4;
// Long blocks within which a shifted probe must appear.
constexpr size_t patience_blocks = 2;

//! Waveforms of one bandwidth with the same frames.
struct like_frames {
    const description* d = nullptr; // description of the first waveform, Long
    std::vector<possible_mode> modes;
    preamble_stretch stretch;
    size_t tested = 0; // word that may be the shifted probe
};

//! Everything for one bandwidth.
struct joined {
    std::vector<std::unique_ptr<like_frames>> classes; // one for each search pattern
    std::vector<std::unique_ptr<reception_plan>> plans;
    family_reception family;
};

/*! \brief Goes from frame to frame until the probe before a Long block's last frame is
 *         shifted and its neighbours are not.
 */
class boundary_reader : public preamble_reader
{
public:
    explicit boundary_reader(const like_frames& c) : d_c(c) {}
    const preamble_stretch& stretch() const override { return d_c.stretch; }
    verdict read(const preamble_evidence& e) override;
    verdict read_nothing() override { return count(false); }
    preamble_meaning meaning() const override;

private:
    verdict count(bool there);

    const like_frames& d_c;
    size_t d_frames = 0, d_silent = 0;
    bool d_heard = false; // a probe, after the search
};

verdict boundary_reader::count(bool there)
{
    const double frame_s =
        static_cast<double>(d_c.d->frame_symbols()) / d_c.d->symbol_rate_bd;
    d_silent = there ? 0 : d_silent + 1;
    d_heard = d_heard || there;
    // Hum looks like a candidate, but no probe of it does.
    const double patience = d_heard ? patience_s : sought_s;
    const bool patient = static_cast<double>(d_silent) * frame_s < patience &&
                         ++d_frames < patience_blocks * d_c.d->frames_per_cycle;
    return patient ? verdict::more : verdict::rejected;
}

verdict boundary_reader::read(const preamble_evidence& e)
{
    const float unit =
        static_cast<float>(d_c.d->known) * std::max(e.noise * e.gain, 1e-30f);
    const auto& match = e.match[d_c.tested];
    const float usual = std::norm(match[0]) / unit, shifted = std::norm(match[1]) / unit;
    const float expected =
        static_cast<float>(d_c.d->known) * e.gain / std::max(e.noise, 1e-30f);
    if (shifted >= std::max(usual + clear_lead, beside_usual * usual) &&
        shifted >= min_share * expected && shifted <= expected / min_share)
        return verdict::found;
    return count(std::max(usual, shifted) >= present);
}

// Only the last probe of the stretch counts: the rest is unknown data.
preamble_meaning boundary_reader::meaning() const
{
    preamble_meaning m;
    m.waveform = d_c.d;
    m.may_be = &d_c.modes;
    m.joined = true;
    m.plan = d_c.modes.front().plan;
    m.symbols_to_data = d_c.stretch.symbols;
    m.symbols_seen = d_c.d->known;
    m.preamble = d_c.stretch.words.back().alternatives.front();
    return m;
}

points probe_points(const description& d, const std::vector<uint8_t>& numbers)
{
    points p;
    for (const uint8_t n : numbers)
        p.push_back(d.known_points[n]);
    return p;
}

// Probes up to the start of a block. The last but one may be shifted.
search_pattern add_probes(like_frames& c)
{
    const mini_probe probe = mini_probe_of(c.d->known);
    const points normal = probe_points(*c.d, probe.normal),
                 shifted = probe_points(*c.d, probe.shifted);
    const size_t frame = c.d->frame_symbols();
    const auto words = std::max(min_words,
                                1 + static_cast<size_t>(sought_s * c.d->symbol_rate_bd /
                                                        static_cast<double>(frame)));
    c.tested = words - 2;
    search_pattern p;
    for (size_t w = 0; w < words; ++w) {
        p.symbols.resize(w * frame);
        p.symbols.insert(p.symbols.end(), normal.begin(), normal.end());
        c.stretch.words.push_back({ w * frame, { normal, shifted } });
    }
    c.stretch.fixed = p.symbols;
    std::fill_n(c.stretch.fixed.begin() + static_cast<long>(c.tested * frame),
                normal.size(),
                value{});
    c.stretch.symbols = p.symbols.size();
    c.stretch.step = frame;
    c.stretch.alone = true;
    p.threshold = threshold;
    /* The best place in a look, which is as long as a frame. At high SNR a wrong offset
     * and place, which Frank sequences confuse, exceed the threshold before the right
     * ones. */
    p.hold = frame;
    p.step_hz = step_turns * c.d->symbol_rate_bd / static_cast<double>(p.symbols.size());
    p.periodic = true;
    /* The base of a probe is a chirp in steps. Early by a symbol, it resembles itself at
     * an offset higher by the rate of bases, with 0.8 of the power for 25 symbols. So do
     * probes a frame apart, at the nearest multiple of the rate of frames. */
    const double frame_hz = c.d->symbol_rate_bd / static_cast<double>(frame),
                 base_hz = c.d->symbol_rate_bd / static_cast<double>(probe.base);
    p.resembles_hz = std::round(base_hz / frame_hz) * frame_hz;
    p.first_look_s = first_look_s;
    return p;
}

void add_modes(like_frames& c, const waveform_row& row, const reception_plan& plan)
{
    for (const mode& m : modes())
        if (m.bandwidth_hz == 1000 * row.bandwidth_khz && m.rate_bps == row.rate_bps)
            c.modes.push_back({ m, &plan, row.bits, row.frames[column_of(m.il)] });
}

like_frames& class_of(joined& j, const waveform_row& row)
{
    const size_t frames = row.frames[column_of(interleaver::long_)];
    for (const auto& c : j.classes)
        if (c->d->unknown == row.unknown && c->d->known == row.known &&
            c->d->frames_per_cycle == frames)
            return *c;
    j.classes.push_back(std::make_unique<like_frames>());
    like_frames& c = *j.classes.back();
    c.d = &kernel::describe(
        mode_of(row.bandwidth_khz, { row.wid, interleaver::long_, 7 }).value());
    j.family.patterns.push_back(add_probes(c));
    return c;
}

std::unique_ptr<joined> join(int khz)
{
    auto j = std::make_unique<joined>();
    j->family.symbol_rate_bd = 800.0 * khz;
    j->family.synchroniser.fine_range_hz = fine_range_hz;
    j->family.synchroniser.fine_step_hz = fine_step_hz;
    size_t longest = 0; // frame and probe
    for (const waveform_row& row : waveforms) {
        if (row.bandwidth_khz != khz || row.known == 0)
            continue;
        j->plans.push_back(std::make_unique<reception_plan>(plan_of(row)));
        add_modes(class_of(*j, row), row, *j->plans.back());
        longest = std::max(longest, row.unknown + 2 * row.known);
    }
    // Probes on both sides may differ by a fade.
    j->family.synchroniser.other_half = 0;
    j->family.look_every_s = look_every_s;
    j->family.look_s = static_cast<double>(longest) / j->family.symbol_rate_bd;
    j->family.reader = [at = j.get()](size_t pattern, const reading_options&) {
        return std::make_unique<boundary_reader>(*at->classes[pattern]);
    };
    return j;
}

} // namespace

const family_reception* late_entry(int bandwidth_hz)
{
    const auto* known =
        std::find_if(bandwidths_khz.begin(),
                     bandwidths_khz.end(),
                     [bandwidth_hz](int khz) { return 1000 * khz == bandwidth_hz; });
    if (known == bandwidths_khz.end())
        return nullptr;
    static std::mutex guard;
    static std::map<int, std::unique_ptr<joined>> all;
    const std::lock_guard<std::mutex> lock(guard);
    auto& j = all[*known];
    if (!j)
        j = join(*known);
    return &j->family;
}

} // namespace gr::hf::kernel::wideband
