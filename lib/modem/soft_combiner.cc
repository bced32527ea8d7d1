/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/soft_combiner.h"

#include "modem/decode/block_decoder.h"
#include "modem/decode/message_parser.h"
#include "modem/find/resumption.h"
#include "waveform/description.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

// Limit of a receiver's ratio: those of iterating detectors are too confident beyond.
constexpr float largest_ratio = 25;

/* Distance within which a preamble found later is a reinserted one, s: paths of F.1487 lie
 * at most 7 ms apart. */
constexpr double same_place_s = 0.01;

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

// Start of block 0 of a reception, in the receiver's time, s.
double start_s(const soft_transmission& t)
{
    const description& d = describe(t.m);
    const soft_block& b = t.blocks.front();
    return b.begin_s -
           static_cast<double>(d.block_begin(static_cast<uint64_t>(b.number))) /
               d.symbol_rate_bd;
}

/* Time from block 0 to block \p number, s. A reinserted preamble counts with its share
 * of each block, as it is not known how many lie before block 0. */
double elapsed_s(const description& d, int64_t number)
{
    return static_cast<double>(number) * static_cast<double>(d.cycle_symbols()) /
           static_cast<double>(d.blocks_per_cycle()) / d.symbol_rate_bd;
}

} // namespace

void soft_combiner::add(size_t receiver, soft_transmission t, bool cued)
{
    if (t.blocks.empty())
        return;
    double certainty = 0;
    for (const soft_block& b : t.blocks)
        for (const float ratio : b.ratios)
            certainty += std::abs(limited(ratio));
    size_t continues = d_receptions.size();
    if (t.found_again)
        for (size_t k = continues; k-- > 0;)
            if (d_receptions[k].receiver == receiver && d_receptions[k].cued == cued) {
                continues = d_receptions[k].continues;
                break;
            }
    d_receptions.push_back({ receiver, std::move(t), certainty, cued, continues });
}

// The shift at which a reception agrees best with the sums; empty: it does not belong.
std::optional<int64_t> soft_combiner::shift_in(const group& g, const reception& r) const
{
    const soft_transmission &a = g.members.front().heard->what, &b = r.what;
    if (!(a.m == b.m))
        return std::nullopt;
    const description& d = describe(a.m);
    const double block_s = elapsed_s(d, 1);
    double middle = start_s(b) - start_s(a);
    double limit = d_o.max_delay_s + d_o.max_clock * std::abs(start_s(b));
    const auto own =
        std::find_if(g.members.begin(), g.members.end(), [&r](const placed& p) {
            return p.heard->receiver == r.receiver && !p.heard->what.found_again;
        });
    int64_t known = g.members.front().shift;
    if (r.what.found_again) {
        limit += resumption::reach_s;
    } else if (own != g.members.end()) { // its clock tells the place, but for a hole
        known = own->shift;
        middle = start_s(b) - start_s(own->heard->what);
        limit = block_s / 2;
    }
    // Reinserted preambles before block 0 move it by less than half a block.
    const auto from = static_cast<int64_t>(std::ceil((middle - limit) / block_s - 0.5));
    const auto to = static_cast<int64_t>(std::floor((middle + limit) / block_s + 0.5));
    std::optional<int64_t> best;
    double most = d_o.min_alike;
    for (int64_t shift = from; shift <= to; ++shift) {
        agreement both;
        for (const soft_block& one : b.blocks) {
            const auto sum = g.sums.find(one.number + known + shift);
            if (sum != g.sums.end())
                both.add(sum->second, one.ratios);
        }
        if (both.deviations() > most) {
            most = both.deviations();
            best = known + shift;
        }
    }
    return best;
}

/* How far the blocks of \p other are shifted in \p g, if both are of one transmission.
 * One receiver with receptions in both tells the shift. The soft bits tell whether it is
 * true, or that \p other starts where \p g would have its next reinserted preamble. */
std::optional<int64_t> soft_combiner::shift_of(const group& g, const group& other) const
{
    const mode& m = g.members.front().heard->what.m;
    const description& d = describe(m);
    if (!(m == other.members.front().heard->what.m))
        return std::nullopt;
    for (const placed& a : g.members)
        for (const placed& b : other.members) {
            if (a.heard->receiver != b.heard->receiver)
                continue;
            const double later = start_s(b.heard->what) - start_s(a.heard->what);
            const auto blocks = std::llround(later / elapsed_s(d, 1));
            const int64_t shift = a.shift + blocks - b.shift;
            agreement both;
            for (const auto& [number, ratios] : other.sums) {
                const auto sum = g.sums.find(number + shift);
                if (sum != g.sums.end())
                    both.add(sum->second, ratios);
            }
            if (both.deviations() > d_o.min_alike)
                return shift;
            const bool after = other.sums.begin()->first + shift > g.sums.rbegin()->first;
            const bool on_cycle =
                d.reinserted > 0 && !b.heard->what.joined &&
                blocks % static_cast<int64_t>(d.blocks_per_cycle()) == 0 &&
                std::abs(later - elapsed_s(d, blocks)) <
                    same_place_s + d_o.max_clock * std::abs(later);
            if (after && on_cycle && !decode(g).complete)
                return shift;
        }
    return std::nullopt;
}

// A receiver with several receptions of a block gives one: its noise in them is the same.
void soft_combiner::add_to(group& g, const reception& r, int64_t shift, int64_t last)
{
    g.members.push_back({ &r, shift });
    for (const soft_block& b : r.what.blocks) {
        const int64_t number = b.number + shift;
        if (number > last)
            break;
        if (!g.contributed.insert({ r.receiver, number }).second)
            continue;
        auto& sum = g.sums[number];
        sum.resize(b.ratios.size(), 0);
        for (size_t i = 0; i < b.ratios.size(); ++i)
            sum[i] += limited(b.ratios[i]);
    }
}

combined_message soft_combiner::decode(const group& g)
{
    combined_message c;
    c.m = g.members.front().heard->what.m;
    const description& d = describe(c.m);
    const int64_t first = g.sums.begin()->first;
    size_t decoded = 0;
    c.joined = std::none_of(g.members.begin(), g.members.end(), [&](const placed& p) {
        return !p.heard->what.joined && p.shift == first;
    });
    block_decoder decoder(d);
    message_parser parser;
    parser.set_most_significant_first(d.most_significant_first);
    bool ended = false;
    for (const auto& [number, sum] : g.sums) {
        const decoded_block b = decoder.decode(sum);
        c.blocks = static_cast<size_t>(number - first + 1);
        ++decoded;
        c.coded_ber += b.coded_ber;
        ended = parser.push(b.bits, c.octets).has_value();
        if (ended)
            break;
    }
    c.coded_ber /= static_cast<double>(decoded);
    if (!ended)
        ended = parser.finish(c.octets).has_value();
    c.complete = ended && decoded == c.blocks;
    c.parts = parts_of(g, c.blocks);
    return c;
}

// What each receiver contributed to the first \p blocks blocks.
std::vector<combined_message::part> soft_combiner::parts_of(const group& g, size_t blocks)
{
    const description& d = describe(g.members.front().heard->what.m);
    const int64_t first = g.sums.begin()->first;
    std::vector<combined_message::part> parts;
    std::set<std::pair<size_t, int64_t>> counted;
    for (const placed& p : g.members) {
        const soft_transmission& t = p.heard->what;
        const size_t receiver = p.heard->receiver;
        auto part = std::find_if(parts.begin(), parts.end(), [receiver](const auto& q) {
            return q.receiver == receiver;
        });
        if (part == parts.end()) {
            part = parts.insert(parts.end(), combined_message::part{});
            part->receiver = receiver;
            part->freq_hz = t.freq_hz;
            part->joined = true;
            part->begin_s = start_s(t) - elapsed_s(d, p.shift - first);
        }
        part->joined = part->joined && (t.joined || p.shift != first);
        for (const soft_block& b : t.blocks)
            if (b.number + p.shift - first < static_cast<int64_t>(blocks) &&
                counted.insert({ receiver, b.number + p.shift }).second) {
                ++part->blocks; // sums, until the end
                part->snr_db += std::pow(10, b.snr_db / 10);
                part->doppler_hz += b.doppler_hz;
                part->delay_spread_ms += b.delay_spread_ms;
            }
    }
    parts.erase(std::remove_if(parts.begin(),
                               parts.end(),
                               [](const auto& part) { return part.blocks == 0; }),
                parts.end());
    for (auto& part : parts) {
        const auto count = static_cast<double>(part.blocks);
        part.snr_db = 10 * std::log10(part.snr_db / count);
        part.doppler_hz /= count;
        part.delay_spread_ms /= count;
    }
    return parts;
}

std::vector<soft_combiner::group> soft_combiner::groups() const
{
    std::vector<const reception*> order;
    for (const reception& r : d_receptions)
        if (!r.cued)
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
    unite(groups);
    settle_found_again(groups);
    add_cued(groups);
    unite(groups);
    return groups;
}

/* A receiver that found a transmission again may be wrong about the place. So its later part
 * counts where it agrees with others, or if there is no other. */
void soft_combiner::settle_found_again(std::vector<group>& groups) const
{
    const auto has = [](const group& g, const reception* r) {
        return std::find_if(
                   g.members.begin(),
                   g.members.end(),
                   [r](const placed& p) { return p.heard == r; }) != g.members.end();
    };
    const auto alone = [](const group& g) {
        return std::all_of(g.members.begin(), g.members.end(), [&g](const placed& p) {
            return p.heard->receiver == g.members.front().heard->receiver;
        });
    };
    for (const reception& r : d_receptions) {
        if (!r.what.found_again || r.cued)
            continue;
        const reception* const start = &d_receptions[r.continues];
        const auto own = std::find_if(
            groups.begin(),
            groups.end(),
            [&](const group& g) { return g.members.size() == 1 && has(g, &r); });
        const auto other = std::find_if(
            groups.begin(), groups.end(), [&](const group& g) { return has(g, start); });
        if (own == groups.end() || other == groups.end() || own == other)
            continue;
        if (alone(*other)) {
            const auto known =
                std::find_if(other->members.begin(),
                             other->members.end(),
                             [start](const placed& p) { return p.heard == start; });
            add_to(*other, r, known->shift);
        }
        groups.erase(own);
    }
}

// Parts that had no block in common may have one with a third part.
void soft_combiner::unite(std::vector<group>& groups) const
{
    for (size_t k = 0; k < groups.size();) {
        size_t other = 0;
        std::optional<int64_t> shift;
        for (; other < groups.size(); ++other)
            if (other != k && (shift = shift_of(groups[other], groups[k])))
                break;
        if (!shift) {
            ++k;
            continue;
        }
        const int64_t last = std::max(groups[other].sums.rbegin()->first,
                                      groups[k].sums.rbegin()->first + *shift);
        for (const placed& p : groups[k].members)
            add_to(groups[other], *p.heard, p.shift + *shift, last);
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
        k = 0;
    }
}

/* What was looked for where others heard it. A receiver without a signal goes on into the
 * noise, so it adds nothing after the last block of the others. */
void soft_combiner::add_cued(std::vector<group>& groups) const
{
    std::vector<int64_t> last;
    for (const group& g : groups)
        last.push_back(g.sums.rbegin()->first);
    for (const reception& r : d_receptions)
        for (size_t k = 0; k < groups.size(); ++k)
            if (const auto shift = r.cued ? shift_in(groups[k], r) : std::nullopt) {
                add_to(groups[k], r, *shift, last[k]);
                break;
            }
}

bool soft_combiner::follows_wrongly(const combined_message& m,
                                    const std::vector<combined_message>& all) const
{
    if (m.complete || m.parts.size() > 1)
        return false;
    const double begin = m.parts.front().begin_s;
    const double length =
        elapsed_s(describe(m.m), static_cast<int64_t>(m.blocks)) + d_o.max_delay_s;
    return std::any_of(all.begin(), all.end(), [&](const combined_message& other) {
        const double later = begin - other.parts.front().begin_s;
        const double lasts =
            elapsed_s(describe(m.m), static_cast<int64_t>(other.blocks)) +
            d_o.max_delay_s;
        return other.parts.size() > 1 && other.m == m.m && later > -length &&
               later < lasts;
    });
}

std::vector<combined_message> soft_combiner::combine() const
{
    std::vector<combined_message> messages;
    for (const group& g : groups())
        messages.push_back(decode(g));
    std::vector<combined_message> right;
    for (const combined_message& m : messages)
        if (!follows_wrongly(m, messages))
            right.push_back(m);
    messages.swap(right);
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
        return a.parts.front().begin_s < b.parts.front().begin_s;
    });
    return messages;
}

} // namespace gr::hf::kernel
