/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/failed_modes.h"

#include "waveform/family.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr unsigned max_wait = 64;
// A channel better by this much is another one.
constexpr double better_db = 3;

size_t standard_of(const mode& m) { return kernel::family_of(m).link.advice_code; }

} // namespace

void failed_modes::on_reception(const mode& m, bool failed, double level_db)
{
    bar& own = d_bars[standard_of(m)];
    for (bar& b : d_bars)
        b.left -= b.left > 0 ? 1 : 0;
    if (failed)
        own = { m.rate_bps, level_db, own.wait, std::min(2 * own.wait, max_wait) };
    else if (own.wait > 1 && m.rate_bps >= own.rate_bps)
        own = {};
}

bool failed_modes::allows(const mode& m, double level_db) const
{
    const bar& b = d_bars[standard_of(m)];
    return b.left == 0 || m.rate_bps < b.rate_bps || level_db > b.level_db + better_db;
}

} // namespace gr::hf::s5066
