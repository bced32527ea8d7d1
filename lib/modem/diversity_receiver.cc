/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/diversity_receiver.h"

#include "waveform/family.h"

#include <algorithm>
#include <utility>

namespace gr::hf::kernel {

namespace {

// The receivers get samples in turns of this length, so that neither waits longer for the
// other.
constexpr double turn_s = 0.005;

} // namespace

diversity_receiver::diversity_receiver(const rx_options& options)
    : diversity_receiver(options, receptions(3000))
{
}

diversity_receiver::diversity_receiver(
    const rx_options& options,
    const std::vector<const family_reception*>& families)
    : d_link(std::make_shared<diversity_link>())
{
    for (size_t k = 0; k < sides; ++k) {
        rx_options o = options;
        o.diversity = d_link;
        o.side = k;
        d_receivers[k] = std::make_unique<burst_receiver>(o, families);
    }
}

void diversity_receiver::push(const std::complex<float>* a,
                              const std::complex<float>* b,
                              size_t n,
                              const float* a_erased,
                              const float* b_erased)
{
    const auto turn = static_cast<size_t>(grid().samples(turn_s));
    for (size_t i = 0; i < n; i += turn) {
        const size_t count = std::min(turn, n - i);
        d_receivers[0]->push(a + i, count, a_erased ? a_erased + i : nullptr);
        d_receivers[1]->push(b + i, count, b_erased ? b_erased + i : nullptr);
        for (size_t k = 0; k < sides; ++k)
            while (auto e = d_receivers[k]->poll())
                take(k, std::move(*e));
    }
}

void diversity_receiver::take(size_t side, rx_event&& e)
{
    if (const auto* start = std::get_if<rx_start>(&e.what)) {
        const bool first = d_members == 0;
        if (!first && !(start->m == d_mode))
            return; // another transmission: only one at a time is reported
        d_member[side] = true;
        ++d_members;
        if (!first)
            return;
        d_mode = start->m;
        d_octets = 0;
        d_next = e.sample;
    } else if (!d_member[side]) {
        return;
    } else if (const auto* octets = std::get_if<rx_octets>(&e.what)) {
        if (e.channel.profile.empty()) {
            d_rest[side] = std::move(e); // no block: the end comes next
            return;
        }
        // The two receivers may see the start of a block this far apart.
        if (e.sample < d_next)
            return;
        d_next = e.sample + grid().samples(diversity_link::pairs_within_s);
        d_octets += octets->octets.size();
    } else {
        auto& end = std::get<rx_end>(e.what);
        const auto reason = end.reason;
        d_member[side] = false;
        --d_members;
        auto rest = std::exchange(d_rest[side], std::nullopt);
        if (reason != rx_end_reason::eom && d_members > 0)
            return; // the other continues, and delivers the rest too
        if (rest) {
            d_octets +=
                static_cast<int64_t>(std::get<rx_octets>(rest->what).octets.size());
            d_events.push_back(std::move(*rest));
        }
        // The one that ended may have counted blocks that came from the other.
        end.sure_octets =
            reason == rx_end_reason::eom ? d_octets : std::min(d_octets, end.sure_octets);
        d_member = {};
        d_members = 0;
    }
    d_events.push_back(std::move(e));
}

std::optional<rx_event> diversity_receiver::poll()
{
    if (d_events.empty())
        return std::nullopt;
    rx_event e = std::move(d_events.front());
    d_events.pop_front();
    return e;
}

void diversity_receiver::keep_details(bool wanted)
{
    for (auto& r : d_receivers)
        r->keep_details(wanted);
}

} // namespace gr::hf::kernel
