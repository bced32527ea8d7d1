/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/diversity_link.h"

#include <cmath>
#include <utility>

namespace gr::hf::kernel {

void diversity_link::begin(size_t k, const description& d, double start)
{
    d_sides[k] = {};
    d_sides[k].waveform = &d;
    d_sides[k].start = start;
}

bool diversity_link::together() const
{
    const side &a = d_sides[0], &b = d_sides[1];
    return a.waveform && a.waveform == b.waveform &&
           std::abs(a.start - b.start) <= pairs_within_s;
}

std::optional<decoded_block> diversity_link::decode(size_t k,
                                                    uint64_t block,
                                                    iterative_detector& d,
                                                    frame_source& source)
{
    side &me = d_sides[k], &other = d_sides[1 - k];
    if (!me.result) {
        const bool pair = together() && other.block <= block;
        if (pair && !(other.waits && other.block == block)) {
            me.waits = &d;
            me.source = &source;
            me.block = block;
            return std::nullopt;
        }
        ++d_blocks;
        if (pair) {
            ++d_joint;
            auto both = iterative_detector::end_blocks(
                { { &d, &source }, { other.waits, other.source } });
            me.result = std::move(both[0]);
            other.result = std::move(both[1]);
        } else {
            me.result = d.end_block(source);
        }
    }
    auto result = std::exchange(me.result, std::nullopt);
    me.waits = nullptr;
    me.block = block + 1;
    return result;
}

} // namespace gr::hf::kernel
