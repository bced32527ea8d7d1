/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/description.h"

#include "waveform/family.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gr::hf::kernel {

const description& describe(const mode& m)
{
    // Filled in on use: the whole table would take 40 MB.
    static std::mutex mutex;
    static std::map<
        std::tuple<waveform_family, int, int, interleaver, int, waveform_reading>,
        std::unique_ptr<const description>>
        table;

    const auto key = std::tuple(
        m.family, m.bandwidth_hz, m.rate_bps, m.il, m.constraint_length, m.reading);
    const std::lock_guard<std::mutex> lock(mutex);
    const auto made = table.find(key);
    if (made != table.end())
        return *made->second;
    mode listed = m;
    listed.reading = waveform_reading::standard;
    const auto& all = mode::all();
    const auto readings = other_readings(m);
    if (std::find(all.begin(), all.end(), listed) == all.end() ||
        (!(m == listed) &&
         std::find(readings.begin(), readings.end(), m.reading) == readings.end()))
        throw std::invalid_argument("no waveform for mode " + m.to_string() + ", " +
                                    std::to_string(m.bandwidth_hz) +
                                    " Hz, K=" + std::to_string(m.constraint_length) +
                                    ": mode::all() lists all modes");
    auto d = std::make_unique<const description>(family_of(m).describe(m));
    return *table.emplace(key, std::move(d)).first->second;
}

double mean_power(const mode& m) { return mean_power(describe(m)); }

double mean_power(const description& d)
{
    const double data = d.alphabet.mean_power();
    double sum = 0;
    for (size_t i = 0; i < d.cycle_symbols(); ++i)
        sum += is_known(d.at(i).kind) ? 1.0 : data;
    return sum / static_cast<double>(d.cycle_symbols());
}

void description::add_frame(const std::vector<cell>& cells)
{
    const auto same = [](const cell& a, const cell& b) {
        return a.kind == b.kind && a.value == b.value;
    };
    const size_t n = cells.size(), known_patterns = patterns.size() / n;
    size_t which = 0;
    while (which < known_patterns &&
           !std::equal(cells.begin(),
                       cells.end(),
                       patterns.begin() + static_cast<std::ptrdiff_t>(which * n),
                       same))
        ++which;
    if (which == known_patterns)
        patterns.insert(patterns.end(), cells.begin(), cells.end());
    frame_patterns.push_back(static_cast<uint16_t>(which));
}

void description::set_preamble(preamble_plan p)
{
    agc = std::move(p.agc);
    preamble = std::move(p.symbols);
    preamble_probe = p.probe;
    sections = std::move(p.sections);
}

frame frame_cursor::next()
{
    frame f;
    f.block = d_frame / d_d.frames_per_block;
    f.frame_in_block = static_cast<size_t>(d_frame % d_d.frames_per_block);
    f.frame_in_cycle = static_cast<size_t>(d_frame % d_d.frames_per_cycle);
    f.begin = d_d.block_begin(f.block) + f.frame_in_block * d_d.frame_symbols();
    f.data = &d_d.at(f.begin);
    f.probe = f.data + d_d.unknown;
    f.last_of_block = f.frame_in_block + 1 == d_d.frames_per_block;
    if (f.frame_in_cycle == 0 && d_frame > 0 && d_d.reinserted > 0) {
        f.reinserted = d_d.reinserted;
        f.reinserted_cells = &d_d.at(f.begin - d_d.reinserted);
    }
    ++d_frame;
    return f;
}

} // namespace gr::hf::kernel
