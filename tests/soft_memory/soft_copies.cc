/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "soft_memory/soft_copies.h"

#include "s5066/pdu/crc.h"
#include "waveform/coding/convolutional_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

namespace gr::hf::s5066 {

namespace {

constexpr unsigned memory = 6; // bits, of the serial tone's code
constexpr unsigned states = 1u << memory;
constexpr float impossible = -1e30f;

/* Viterbi decoder of the serial tone's code after zeros. A state is the last six bits, the
 * newest most significant. The end is open. */
class decoder_after_zeros
{
public:
    decoder_after_zeros()
    {
        const auto code = kernel::serial_tone_code(1);
        for (unsigned before = 0; before < states; ++before)
            for (const unsigned bit : { 0u, 1u }) {
                const uint32_t reg = before | bit << memory;
                d_pair[before][bit] =
                    static_cast<uint8_t>(__builtin_parity(reg & code.t1) |
                                         __builtin_parity(reg & code.t2) << 1);
            }
    }

    // The first wanted bits.
    std::vector<uint8_t> decode(const std::vector<float>& ratios, size_t wanted) const
    {
        const size_t steps = ratios.size() / 2;
        std::vector<uint64_t> odd(steps,
                                  0); // bit s: the best way to s is from an odd state
        std::array<float, states> metric, next;
        metric.fill(impossible);
        metric[0] = 0;
        for (size_t k = 0; k < steps; ++k) {
            const float a = ratios[2 * k] / 2, b = ratios[2 * k + 1] / 2;
            const float gain[4] = { a + b, b - a, a - b, -a - b }; // by pair
            for (unsigned to = 0; to < states; ++to) {
                const unsigned bit = to >> (memory - 1);
                const unsigned from = to << 1 & (states - 1);
                const float even = metric[from] + gain[d_pair[from][bit]];
                const float other = metric[from | 1] + gain[d_pair[from | 1][bit]];
                next[to] = std::max(even, other);
                odd[k] |= static_cast<uint64_t>(other > even) << to;
            }
            const float best = *std::max_element(next.begin(), next.end());
            for (unsigned s = 0; s < states; ++s)
                metric[s] = next[s] - best;
        }
        auto at = static_cast<unsigned>(std::max_element(metric.begin(), metric.end()) -
                                        metric.begin());
        std::vector<uint8_t> bits(wanted, 0);
        for (size_t k = steps; k-- > 0;) {
            if (k < wanted)
                bits[k] = static_cast<uint8_t>(at >> (memory - 1));
            at = (at << 1 & (states - 1)) | static_cast<unsigned>(odd[k] >> at & 1);
        }
        return bits;
    }

private:
    uint8_t d_pair[states][2]; // T1 and 2 T2 of a bit after a state
};

/* Turns the first ratios into those after a header of zeros. The code is linear, so the
 * header's bits in the encoder's register only turn signs. Bit 0 of an octet is sent
 * first: the last six bits are the upper ones. */
void remove_header(const std::vector<uint8_t>& header, std::vector<float>& ratios)
{
    const auto code = kernel::serial_tone_code(1);
    unsigned state = header.back() >> 2;
    for (size_t k = 0; k < memory; ++k, state >>= 1) {
        if (__builtin_parity(state & code.t1))
            ratios[2 * k] = -ratios[2 * k];
        if (__builtin_parity(state & code.t2))
            ratios[2 * k + 1] = -ratios[2 * k + 1];
    }
}

} // namespace

std::optional<std::vector<uint8_t>> soft_copies::add(station_time now,
                                                     const key& k,
                                                     const std::vector<uint8_t>& header,
                                                     std::vector<float> ratios)
{
    const size_t octets = k.octets + 4, bits = 8 * octets;
    if (header.empty() || k.octets == 0 || ratios.size() < 2 * bits ||
        2 * bits > most_ratios)
        return std::nullopt;
    for (float& r : ratios)
        r = std::isfinite(r) ? r : 0;
    remove_header(header, ratios);
    auto e = std::find_if(
        d_entries.begin(), d_entries.end(), [&k](const entry& x) { return x.k == k; });
    if (e != d_entries.end() && e->copies + 1 > most_copies) {
        erase(e);
        e = d_entries.end();
    }
    std::vector<float> sum = ratios;
    if (e != d_entries.end())
        std::transform(
            e->sum.begin(), e->sum.end(), sum.begin(), sum.begin(), std::plus<float>());
    static const decoder_after_zeros decoder;
    const auto decided = decoder.decode(sum, bits);
    std::vector<uint8_t> segment(octets, 0);
    for (size_t i = 0; i < bits; ++i)
        segment[i / 8] = static_cast<uint8_t>(segment[i / 8] | decided[i] << (i & 7));
    // The CRC of zeros is zero, and that is what the decoder makes of a gap.
    const bool empty =
        std::all_of(segment.begin(), segment.end(), [](uint8_t o) { return o == 0; });
    if (!empty && crc32(segment.data(), octets) == 0) {
        if (e != d_entries.end())
            erase(e);
        segment.resize(k.octets);
        return segment;
    }
    if (e == d_entries.end()) {
        d_ratios += 2 * bits;
        e = d_entries.insert(d_entries.end(),
                             { k, now, 0, std::vector<float>(2 * bits) });
    } else {
        d_entries.splice(d_entries.end(), d_entries, e);
    }
    e->last = now;
    ++e->copies;
    std::transform(
        e->sum.begin(), e->sum.end(), ratios.begin(), e->sum.begin(), std::plus<float>());
    while (d_ratios > most_ratios)
        erase(d_entries.begin());
    return std::nullopt;
}

void soft_copies::drop(const key& k)
{
    const auto e = std::find_if(
        d_entries.begin(), d_entries.end(), [&k](const entry& x) { return x.k == k; });
    if (e != d_entries.end())
        erase(e);
}

void soft_copies::drop_all(address from)
{
    for (auto e = d_entries.begin(); e != d_entries.end();) {
        const auto next = std::next(e);
        if (e->k.from == from)
            erase(e);
        e = next;
    }
}

void soft_copies::expire(station_time now)
{
    while (!d_entries.empty() &&
           now - d_entries.front().last > from_seconds(longest_age_s))
        erase(d_entries.begin());
}

void soft_copies::erase(std::list<entry>::iterator e)
{
    d_ratios -= e->sum.size();
    d_entries.erase(e);
}

} // namespace gr::hf::s5066
