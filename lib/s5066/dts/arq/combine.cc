/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/arq/combine.h"

#include "s5066/pdu/crc.h"

namespace gr::hf::s5066 {

namespace {
constexpr size_t max_bursts = 8;
// Equal octets that end a burst. Error events of the modems' decoders are shorter.
constexpr size_t burst_gap = 3;
} // namespace

std::optional<std::vector<uint8_t>> combine_copies(const std::vector<uint8_t>& a,
                                                   const std::vector<uint8_t>& b)
{
    if (a.size() != b.size() || a.size() <= 4)
        return std::nullopt;
    struct burst {
        size_t begin, end;
    };
    std::vector<burst> bursts;
    for (size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i])
            continue;
        if (bursts.empty() || i - bursts.back().end >= burst_gap) {
            if (bursts.size() == max_bursts)
                return std::nullopt;
            bursts.push_back({ i, i });
        }
        bursts.back().end = i + 1;
    }
    // The CRC is linear: a choice changes it by the sum of the bursts taken from b.
    std::vector<uint32_t> change;
    std::vector<uint8_t> only(a.size());
    for (const auto& u : bursts) {
        for (size_t i = u.begin; i < u.end; ++i)
            only[i] = a[i] ^ b[i];
        change.push_back(crc32(only.data(), only.size()));
        for (size_t i = u.begin; i < u.end; ++i)
            only[i] = 0;
    }
    const uint32_t damage = crc32(a.data(), a.size());
    // Skip none and all: both copies are known to be damaged.
    for (unsigned choice = 1; choice + 1 < 1u << bursts.size(); ++choice) {
        uint32_t crc = damage;
        for (size_t k = 0; k < bursts.size(); ++k)
            crc ^= choice >> k & 1 ? change[k] : 0;
        if (crc != 0)
            continue;
        std::vector<uint8_t> good = a;
        for (size_t k = 0; k < bursts.size(); ++k)
            for (size_t i = bursts[k].begin; i < bursts[k].end && (choice >> k & 1); ++i)
                good[i] = b[i];
        return good;
    }
    return std::nullopt;
}

} // namespace gr::hf::s5066
