/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_bins.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Weak bins between the strong ones of a carrier. Radio teletype with a shift of 170 Hz is
// one carrier: a bin of 37.5 Hz is weak between its two tones.
constexpr int within = 1;
constexpr double same = 8; // bins that a carrier may move from one spectrum to the next

} // namespace

void carrier_bins::restart()
{
    std::fill(d_carriers.begin(), d_carriers.end(), carrier{});
}

void carrier_bins::update(const std::vector<float>& powers, float strong)
{
    std::vector<group> groups = groups_of(powers, strong);
    follow(groups);
    const auto count = static_cast<int>(powers.size());
    for (size_t k = 0; k < groups.size(); ++k) {
        const group& g = groups[k];
        carrier& c = g.owner != nullptr ? *g.owner : unused();
        c.centre = g.centre();
        c.bins.first = k == 0 ? 0 : (groups[k - 1].last + g.first + 1) / 2;
        c.bins.end =
            k + 1 == groups.size() ? count : (g.last + groups[k + 1].first + 1) / 2;
    }
    if (groups.empty())
        d_carriers.front().bins.end = count;
}

// From below. The highest one has all that are too many.
std::vector<carrier_bins::group> carrier_bins::groups_of(const std::vector<float>& powers,
                                                         float strong) const
{
    std::vector<group> groups;
    for (int k = 0; k < static_cast<int>(powers.size()); ++k) {
        const auto power = static_cast<double>(powers[static_cast<size_t>(k)]);
        if (power <= strong)
            continue;
        const bool apart = groups.empty() || k - groups.back().last > within + 1;
        if (apart && groups.size() < d_carriers.size())
            groups.push_back({ k, k });
        group& g = groups.back();
        g.last = k;
        g.moment += k * power;
        g.power += power;
    }
    return groups;
}

// Each carrier moves to its group, the nearest pairs first. Carriers without one end.
void carrier_bins::follow(std::vector<group>& groups)
{
    std::vector<carrier*> left;
    for (carrier& c : d_carriers) {
        c.bins = {};
        if (c.centre)
            left.push_back(&c);
    }
    for (;;) {
        double least = same;
        auto nearest = left.end();
        group* to = nullptr;
        for (auto c = left.begin(); c != left.end(); ++c)
            for (group& g : groups)
                if (const double distance = std::abs(g.centre() - *(*c)->centre);
                    g.owner == nullptr && distance <= least) {
                    least = distance;
                    nearest = c;
                    to = &g;
                }
        if (to == nullptr)
            break;
        to->owner = *nearest;
        left.erase(nearest);
    }
    for (carrier* const c : left)
        c->centre.reset();
}

// There are as many carriers as there may be groups.
carrier_bins::carrier& carrier_bins::unused()
{
    return *std::find_if(
        d_carriers.begin(), d_carriers.end(), [](const carrier& c) { return !c.centre; });
}

} // namespace gr::hf::kernel
