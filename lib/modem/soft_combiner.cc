/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/soft_combiner.h"

#include "modem/decode/block_decoder.h"
#include "modem/decode/message_parser.h"
#include "waveform/description.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

// Limit of a receiver's ratio: those of iterating detectors are too confident beyond.
constexpr float largest_ratio = 25;

float limited(float ratio) { return std::clamp(ratio, -largest_ratio, largest_ratio); }

// How far two receptions agree: zero mean and variance 1 if they are unrelated.
struct agreement {
    double product = 0, square = 0;

    void add(const std::vector<float>& a, const std::vector<float>& b)
    {
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
            const double p = limited(a[i]) * limited(b[i]);
            product += p;
            square += p * p;
        }
    }
    double deviations() const { return square > 0 ? product / std::sqrt(square) : 0; }
};

double mean_snr_db(const std::vector<soft_block>& blocks)
{
    double power = 0;
    for (const soft_block& b : blocks)
        power += std::pow(10, b.snr_db / 10);
    return 10 * std::log10(power / static_cast<double>(blocks.size()));
}

} // namespace

void soft_combiner::add(size_t receiver, soft_transmission t)
{
    if (t.blocks.empty())
        return;
    double certainty = 0;
    for (const soft_block& b : t.blocks)
        for (const float ratio : b.ratios)
            certainty += std::abs(limited(ratio));
    d_receptions.push_back({ receiver, std::move(t), certainty });
}

// The shift at which a reception agrees best with the sums; empty: it does not belong.
std::optional<int64_t> soft_combiner::shift_in(const group& g, const reception& r) const
{
    const placed& seed = g.members.front();
    const soft_transmission &a = seed.heard->what, &b = r.what;
    if (!(a.m == b.m))
        return std::nullopt;
    const description& d = describe(a.m);
    const double block_s = static_cast<double>(d.block_symbols()) / d.symbol_rate_bd;
    const double later = b.blocks.front().begin_s - a.blocks.front().begin_s;
    const double limit =
        d_o.max_delay_s + d_o.max_clock * std::abs(b.blocks.front().begin_s);
    int64_t from = 0, to = 0;
    if (a.joined || b.joined) {
        from = static_cast<int64_t>(std::ceil((later - limit) / block_s));
        to = static_cast<int64_t>(std::floor((later + limit) / block_s));
    } else if (std::abs(later) > limit) {
        return std::nullopt;
    }
    std::optional<int64_t> best;
    double most = d_o.least_alike;
    for (int64_t shift = from; shift <= to; ++shift) {
        agreement both;
        for (const soft_block& one : b.blocks) {
            const int64_t k = one.number + seed.shift + shift - g.first;
            if (k >= 0 && k < static_cast<int64_t>(g.sums.size()))
                both.add(g.sums[static_cast<size_t>(k)], one.ratios);
        }
        if (both.deviations() > most) {
            most = both.deviations();
            best = seed.shift + shift;
        }
    }
    return best;
}

void soft_combiner::add_to(group& g, const reception& r, int64_t shift)
{
    g.members.push_back({ &r, shift });
    for (const soft_block& b : r.what.blocks) {
        const int64_t number = b.number + shift;
        if (g.sums.empty())
            g.first = number;
        if (number < g.first) {
            g.sums.insert(g.sums.begin(), static_cast<size_t>(g.first - number), {});
            g.first = number;
        }
        const auto k = static_cast<size_t>(number - g.first);
        if (k >= g.sums.size())
            g.sums.resize(k + 1);
        g.sums[k].resize(b.ratios.size(), 0);
        for (size_t i = 0; i < b.ratios.size(); ++i)
            g.sums[k][i] += limited(b.ratios[i]);
    }
}

combined_message soft_combiner::decode(const group& g)
{
    combined_message c;
    c.m = g.members.front().heard->what.m;
    c.joined = true;
    for (const placed& p : g.members) {
        const soft_transmission& t = p.heard->what;
        c.joined = c.joined && t.joined;
        c.parts.push_back({ p.heard->receiver,
                            t.blocks.front().begin_s,
                            mean_snr_db(t.blocks),
                            t.blocks.size() });
    }
    const description& d = describe(c.m);
    block_decoder decoder(d);
    message_parser parser;
    parser.set_most_significant_first(d.most_significant_first);
    const std::vector<float> unknown(d.coded_bits, 0);
    for (const auto& sum : g.sums) {
        const decoded_block b = decoder.decode(sum.empty() ? unknown : sum);
        ++c.blocks;
        c.coded_ber += b.coded_ber;
        c.complete = parser.push(b.bits, c.octets).has_value();
        if (c.complete)
            break;
    }
    c.coded_ber /= static_cast<double>(std::max<size_t>(1, c.blocks));
    if (!c.complete)
        c.complete = parser.finish(c.octets).has_value();
    return c;
}

std::vector<combined_message> soft_combiner::combine() const
{
    std::vector<const reception*> order;
    for (const reception& r : d_receptions)
        order.push_back(&r);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return a->certainty > b->certainty;
    });
    std::vector<group> groups;
    for (const reception* r : order) {
        bool placed = false;
        for (group& g : groups)
            if (const auto shift = shift_in(g, *r)) {
                add_to(g, *r, *shift);
                placed = true;
                break;
            }
        if (!placed) {
            groups.emplace_back();
            add_to(groups.back(), *r, 0);
        }
    }
    std::vector<combined_message> messages;
    for (const group& g : groups)
        messages.push_back(decode(g));
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
        return a.parts.front().begin_s < b.parts.front().begin_s;
    });
    return messages;
}

} // namespace gr::hf::kernel
