/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/diversity_link.h"

#include <cmath>
#include <utility>

namespace gr::hf::kernel {

void diversity_link::begin(size_t k, const description& d, double start, bool joined)
{
    side &me = d_sides[k], &other = d_sides[1 - k];
    end(k);
    me.waveform = &d;
    me.start = start;
    me.joined = joined;
    if (other.waveform != &d)
        return;
    const double block_s = static_cast<double>(d.block_symbols()) / d.symbol_rate_bd;
    const double blocks =
        me.joined || other.joined ? std::round((start - other.start) / block_s) : 0;
    if (std::abs(start - other.start - blocks * block_s) > pairs_within_s)
        return;
    me.paired = other.paired = true;
    me.first = me.block = other.first + static_cast<int64_t>(blocks);
}

void diversity_link::end(size_t k)
{
    d_sides[k] = {};
    d_sides[1 - k].paired = false;
}

std::optional<decoded_block> diversity_link::decode(size_t k,
                                                    uint64_t block,
                                                    iterative_detector& d,
                                                    frame_source& source)
{
    side &me = d_sides[k], &other = d_sides[1 - k];
    const int64_t number = me.first + static_cast<int64_t>(block);
    if (!me.result) {
        const bool pair = me.paired && other.block <= number;
        if (pair && !(other.waits && other.block == number)) {
            me.waits = &d;
            me.source = &source;
            me.block = number;
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
    me.block = number + 1;
    return result;
}

} // namespace gr::hf::kernel
