/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/listened_families.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

symbol_grid grid_of(const listened_families& families)
{
    if (families.empty())
        throw std::invalid_argument("burst_receiver: no family to listen for");
    for (const family_reception* f : families)
        if (f->symbol_rate_bd != families.front()->symbol_rate_bd)
            throw std::invalid_argument("burst_receiver: families of " +
                                        std::to_string(families.front()->symbol_rate_bd) +
                                        " and " + std::to_string(f->symbol_rate_bd) +
                                        " Bd, one bandwidth has one symbol rate");
    return symbol_grid(families.front()->symbol_rate_bd);
}

std::vector<double> periods_of(const listened_families& families)
{
    std::vector<double> periods;
    for (const family_reception* f : families)
        periods.insert(periods.end(), f->periods_s.begin(), f->periods_s.end());
    std::sort(periods.begin(), periods.end());
    periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
    return periods;
}

} // namespace gr::hf::kernel
