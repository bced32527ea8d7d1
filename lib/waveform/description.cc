/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/description.h"

#include "waveform/high_rate.h"
#include "waveform/serial_tone.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace gr::hf::kernel {

namespace {

description make(const mode& m)
{
    return m.family == waveform_family::serial_tone ? serial_tone::describe(m)
                                                    : high_rate::describe(m);
}

} // namespace

const description& describe(const mode& m)
{
    // A table of constants that is filled in as it is used: all of it would be 4 MB.
    static std::mutex mutex;
    static std::vector<std::unique_ptr<const description>> table(mode::all().size());

    const auto& all = mode::all();
    const auto found = std::find(all.begin(), all.end(), m);
    if (found == all.end())
        throw std::invalid_argument("no waveform for mode " + m.to_string() + ", " +
                                    std::to_string(m.bandwidth_hz) +
                                    " Hz, K=" + std::to_string(m.constraint_length) +
                                    ": mode::all() lists what there is");
    const std::lock_guard<std::mutex> lock(mutex);
    auto& entry = table[static_cast<size_t>(found - all.begin())];
    if (!entry)
        entry = std::make_unique<const description>(make(m));
    return *entry;
}

double mean_power(const mode& m)
{
    const description& d = describe(m);
    const double data = d.alphabet.mean_power();
    double sum = 0;
    for (const cell& c : d.cycle)
        sum += is_known(c.kind) ? 1.0 : data;
    return sum / static_cast<double>(d.cycle.size());
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
