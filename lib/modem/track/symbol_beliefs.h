/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "modem/track/burst_tracker.h"
#include "waveform/description.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! What is known about each symbol of a transmission: the known ones, and the detector's
//! beliefs about the data of the block under way.
class symbol_beliefs
{
public:
    explicit symbol_beliefs(const acquired& a) : d_d(*a.waveform), d_preamble(a.preamble)
    {
        if (d_preamble.empty())
            for (const uint8_t number : d_d.preamble)
                d_preamble.push_back(d_d.known_points[number]);
    }

    //! \param reading of the probes, see description::at()
    symbol_belief at(int64_t n, size_t reading) const
    {
        const auto in_block = static_cast<size_t>(n - d_begin);
        if (n >= d_begin && in_block < d_beliefs.size())
            return d_beliefs[in_block];
        if (n < 0) {
            const auto length = static_cast<int64_t>(d_preamble.size());
            if (n >= -length)
                return { d_preamble[static_cast<size_t>(n + length)], 0 };
            return { 0, 1 };
        }
        const cell& c = d_d.at(static_cast<uint64_t>(n), reading);
        return is_known(c.kind) ? symbol_belief{ d_d.known_points[c.value], 0 }
                                : symbol_belief{ 0, 1 };
    }

    //! Beliefs from symbol \p n on follow, by add().
    void begin_block(int64_t n)
    {
        d_begin = n;
        d_beliefs.clear();
    }
    //! Beliefs about the data of the block's next frame, which begins at symbol \p begin.
    void add_frame(int64_t begin, const symbol_belief* data, size_t reading)
    {
        d_beliefs.insert(d_beliefs.end(), data, data + d_d.unknown);
        const auto probe = static_cast<uint64_t>(begin) + d_d.unknown;
        for (size_t i = 0; i < d_d.known; ++i)
            d_beliefs.push_back({ d_d.known_point(d_d.at(probe + i, reading)), 0 });
    }
    //! The data of the block are unknown again.
    void end_block() { d_beliefs.clear(); }

    //! Points that end where symbol 0 starts.
    const std::vector<std::complex<float>>& preamble() const { return d_preamble; }

private:
    const description& d_d;
    std::vector<std::complex<float>> d_preamble;
    std::vector<symbol_belief> d_beliefs; // of every symbol from d_begin on
    int64_t d_begin = 0;
};

} // namespace gr::hf::kernel
