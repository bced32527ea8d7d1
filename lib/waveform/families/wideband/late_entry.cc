/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/families/wideband/late_entry.h"

#include "waveform/families/registry.h"
#include "waveform/families/wideband/plans.h"
#include "waveform/families/wideband/wideband.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace gr::hf::kernel::wideband {

namespace {

using value = std::complex<float>;
using points = std::vector<value>;
using verdict = preamble_reader::verdict;

/* Probes over so long are looked for together: a third of the period of 1 Hz of fading, over which
 * the channel hardly turns. */
constexpr double sought_s = 0.3;
/* On noise a score of 21 comes once in two hours over 35 offsets (reception.cc); here they are up to
 * 80, and what is found must still be told from the other probes. */
constexpr float threshold = 21;
// Steps of the carrier offset times the duration: 1.1 dB is lost half a step off.
constexpr double step_turns = 0.55;
constexpr double first_look_s = 0.02;
/* Probes so far apart leave the offset open by the inverse of that, 8.3 Hz mostly, but for what it
 * turns within a probe. The search's steps are too wide to see this: looked at are two such places to
 * either side, in steps that cost a tenth of a dB over all probes. */
constexpr double fine_range_hz = 19, fine_step_hz = 0.3;
/* How much more of the noise's deviation the shifted probe must explain than the usual one, and
 * than it does in the places beside: by chance once in 160000. */
constexpr float clear_lead = 12;

//! All that is needed to join one mode.
struct joined {
    const description* d = nullptr;
    reception_plan plan;
    preamble_stretch stretch;
    size_t shifted = 0; // which of its words is the shifted probe
    family_reception family;
};

class boundary_reader : public preamble_reader
{
public:
    explicit boundary_reader(const joined& j) : d_j(j) {}
    const preamble_stretch& stretch() const override { return d_j.stretch; }
    verdict read(const preamble_evidence& e) override;
    preamble_meaning meaning() const override;

private:
    const joined& d_j;
};

// The shifted probe, and it alone, must be where it is expected.
verdict boundary_reader::read(const preamble_evidence& e)
{
    const float unit =
        static_cast<float>(d_j.d->known) * std::max(e.noise * e.gain, 1e-30f);
    const auto lead = [&](size_t word) { // of the shifted probe over the usual one
        return (std::norm(e.match[word][1]) - std::norm(e.match[word][0])) / unit;
    };
    float beside = 0;
    for (size_t w = 0; w < e.match.size(); ++w)
        if (w != d_j.shifted)
            beside = std::max(beside, lead(w));
    return lead(d_j.shifted) >= beside + clear_lead ? verdict::found : verdict::rejected;
}

// Of what was seen only the last probe counts: what is before it is data that nobody knows.
preamble_meaning boundary_reader::meaning() const
{
    preamble_meaning m;
    m.waveform = d_j.d;
    m.plan = &d_j.plan;
    m.symbols_to_data = d_j.stretch.symbols;
    m.symbols_seen = d_j.d->known;
    m.preamble = d_j.stretch.words.back().alternatives.front();
    return m;
}

points probe_points(const description& d, const std::vector<uint8_t>& numbers)
{
    points p;
    for (const uint8_t n : numbers)
        p.push_back(d.known_points[n]);
    return p;
}

// Probes up to the begin of a block: usual ones, the shifted one, one more.
void add_probes(joined& j, const waveform_row& row)
{
    const mini_probe probe = mini_probe_of(row.known);
    const points normal = probe_points(*j.d, probe.normal),
                 shifted = probe_points(*j.d, probe.shifted);
    const double frame_s =
        static_cast<double>(j.d->frame_symbols()) / j.d->symbol_rate_bd;
    j.shifted = std::clamp<size_t>(static_cast<size_t>(sought_s / frame_s),
                                   2,
                                   j.d->frames_per_cycle - 1) -
                1;
    search_pattern p;
    const size_t words = j.shifted + 2;
    for (size_t w = 0; w < words; ++w) {
        const size_t at = w * j.d->frame_symbols();
        const points& sent = w == j.shifted ? shifted : normal;
        p.symbols.resize(at);
        p.symbols.insert(p.symbols.end(), sent.begin(), sent.end());
        j.stretch.words.push_back({ at, { normal, shifted } });
    }
    j.stretch.fixed = p.symbols;
    j.stretch.symbols = p.symbols.size();
    p.threshold = threshold;
    // The usual probes alone resemble it in every frame.
    p.hold = j.d->frame_symbols();
    p.step_hz = step_turns * j.d->symbol_rate_bd / static_cast<double>(j.stretch.symbols);
    p.periodic = true;
    p.first_look_s = first_look_s;
    j.family.patterns.push_back(std::move(p));
}

std::unique_ptr<joined> join(const mode& m)
{
    const waveform_row& row = row_of(m);
    if (row.known == 0)
        throw std::invalid_argument("mode " + m.to_string() +
                                    " cannot be joined without its preamble: "
                                    "waveform 0 has no mini-probes");
    auto j = std::make_unique<joined>();
    j->d = &kernel::describe(m);
    j->plan = plan_of(row);
    j->family.symbol_rate_bd = j->d->symbol_rate_bd;
    j->family.synchroniser.fine_range_hz = fine_range_hz;
    j->family.synchroniser.fine_step_hz = fine_step_hz;
    add_probes(*j, row);
    j->family.reader = [at = j.get()](size_t, const reading_options&) {
        return std::make_unique<boundary_reader>(*at);
    };
    return j;
}

} // namespace

const family_reception* late_entry(const mode& m)
{
    static std::mutex guard;
    static std::map<std::string, std::unique_ptr<joined>> all;
    const std::lock_guard<std::mutex> lock(guard);
    auto& j = all[m.to_string()];
    if (!j)
        j = join(m);
    return &j->family;
}

} // namespace gr::hf::kernel::wideband
