/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/soft_copies.h"

#include "s5066/pdu/crc.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace gr::hf::s5066 {

namespace {

constexpr size_t crc_octets = 4;

size_t ratios_of(const soft_copies::key& k) { return 2 * 8 * (k.octets + crc_octets); }

// Bit 0 of an octet is sent first.
std::vector<uint8_t> packed(const std::vector<uint8_t>& bits, size_t octets)
{
    std::vector<uint8_t> v(octets, 0);
    for (size_t i = 0; i < std::min(bits.size(), 8 * octets); ++i)
        v[i / 8] = static_cast<uint8_t>(v[i / 8] | bits[i] << (i & 7));
    return v;
}

// The CRC of zeros is zero, and a gap may have become zeros in another modem.
bool good(const std::vector<uint8_t>& segment)
{
    return std::any_of(
               segment.begin(), segment.end(), [](uint8_t o) { return o != 0; }) &&
           crc32(segment.data(), segment.size()) == 0;
}

} // namespace

std::optional<std::vector<uint8_t>>
soft_copies::add(station_time now, const key& k, const code_piece& copy)
{
    if (!d_decode || k.octets == 0 || copy.ratios.size() < ratios_of(k) ||
        ratios_of(k) > max_ratios)
        return std::nullopt;
    auto e = find(k);
    if (e != d_entries.end() && (e->copies == max_copies || e->code != copy.code)) {
        erase(e);
        e = d_entries.end();
    }
    std::vector<float> sum(copy.ratios.begin(), copy.ratios.end());
    if (e != d_entries.end()) {
        std::transform(
            e->sum.begin(), e->sum.end(), sum.begin(), sum.begin(), std::plus<float>());
    }
    const size_t octets = k.octets + crc_octets;
    auto segment = packed(d_decode(copy.code, std::move(sum), 8 * octets), octets);
    if (!good(segment)) {
        keep(now, e, k, copy);
        return std::nullopt;
    }
    if (e != d_entries.end())
        erase(e);
    segment.resize(k.octets);
    return segment;
}

void soft_copies::keep(station_time now,
                       std::list<entry>::iterator e,
                       const key& k,
                       const code_piece& copy)
{
    if (e == d_entries.end()) {
        d_ratios += ratios_of(k);
        e = d_entries.insert(
            e, { k, now, 0, copy.code, std::vector<int16_t>(ratios_of(k)) });
    } else {
        d_entries.splice(d_entries.end(), d_entries, e);
    }
    e->last = now;
    ++e->copies;
    std::transform(e->sum.begin(),
                   e->sum.end(),
                   copy.ratios.begin(),
                   e->sum.begin(),
                   [](int16_t a, int8_t b) { return static_cast<int16_t>(a + b); });
    while (d_ratios > max_ratios)
        erase(d_entries.begin());
}

void soft_copies::drop(const key& k)
{
    const auto e = find(k);
    if (e != d_entries.end())
        erase(e);
}

void soft_copies::expire(station_time now)
{
    while (!d_entries.empty() &&
           now - d_entries.front().last > from_seconds(longest_age_s))
        erase(d_entries.begin());
}

std::list<soft_copies::entry>::iterator soft_copies::find(const key& k)
{
    return std::find_if(
        d_entries.begin(), d_entries.end(), [&k](const entry& x) { return x.k == k; });
}

void soft_copies::erase(std::list<entry>::iterator e)
{
    d_ratios -= e->sum.size();
    d_entries.erase(e);
}

} // namespace gr::hf::s5066
