/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/lost_headers.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

namespace {

constexpr size_t eot_place = 4, crc_octets = 2, segment_crc_octets = 4;
// Flags of DATA-ONLY that may differ from those of its neighbour: C_PDU START, C_PDU END,
// TX UWE and TX LWE (C.3.3).
constexpr unsigned open_flags[] = { 0x80, 0x40, 0x08, 0x04 };
// EOT counts from a whole octet, or from a whole block.
constexpr int eot_doubt = 1;

bool can_be_model(const received_d_pdu& r)
{
    const d_pdu& d = r.pdu;
    return (d.type == d_pdu_type::data_only ||
            (d.large && d.type == d_pdu_type::large_data_only)) &&
           d.segment_crc.size() == segment_crc_octets && !d.arq.drop;
}

size_t header_octets(const received_d_pdu& r)
{
    return r.octets.size() - r.pdu.segment.size() - r.pdu.segment_crc.size();
}

size_t number_octets(const received_d_pdu& r) { return r.pdu.large ? 2 : 1; }

uint64_t end_of(const received_d_pdu& r) { return r.bit_offset + 8 * r.octets.size(); }

} // namespace

void lost_headers::reset(const gr::hf::mode& m)
{
    d_bits_per_second = m.rate_bps;
    d_tries = 0;
    d_end = 0;
    d_last.reset();
    d_found.clear();
}

size_t lost_headers::take(received_d_pdu r, const code_ratios& ratios)
{
    gap g{ d_end, r.bit_offset, {}, {} };
    const bool known = can_be_model(r);
    if (known)
        g.until = r.pdu.arq.fsn;
    size_t found = 0;
    if (d_last && (!known || d_last->pdu.large == r.pdu.large)) {
        g.after = d_last->pdu.arq.fsn;
        found = search(*d_last, g, ratios);
    } else if (known) {
        // Nothing is known of what the gap starts with. Its end is a D_PDU like this one.
        g.begin += (g.end - g.begin) % (8 * r.octets.size());
        found = search(r, g, ratios);
    }
    if (known)
        d_last = r;
    else if (found > 0)
        d_last = d_found.back();
    d_end = end_of(r);
    d_found.push_back(std::move(r));
    return found;
}

size_t lost_headers::end(const code_ratios& ratios)
{
    if (!d_last)
        return 0;
    const auto last = *std::exchange(d_last, std::nullopt);
    return search(last, { d_end, ratios.bits(), last.pdu.arq.fsn, {} }, ratios);
}

std::optional<received_d_pdu> lost_headers::next()
{
    if (d_found.empty())
        return std::nullopt;
    auto r = std::move(d_found.front());
    d_found.pop_front();
    return r;
}

size_t lost_headers::search(const received_d_pdu& like, gap g, const code_ratios& ratios)
{
    size_t found = 0;
    if (!d_decode || like.pdu.eot == 0)
        return found;
    const uint64_t step = 8 * like.octets.size();
    for (; g.begin + step <= std::min<uint64_t>(g.end, ratios.bits()) &&
           d_tries < max_tries;
         g.begin += step) {
        ++d_tries;
        if (auto r = read(like, g.begin, g, ratios)) {
            g.after = r->pdu.arq.fsn;
            d_found.push_back(std::move(*r));
            ++found;
        }
    }
    return found;
}

/* The header up to its number: the most likely of those that can be there. Empty: none is
 * likely. */
std::vector<uint8_t> lost_headers::header_at(const received_d_pdu& like,
                                             uint64_t at,
                                             const code_ratios& ratios) const
{
    const size_t open = number_octets(like) + crc_octets; // octets
    std::vector<uint8_t> header(like.octets.begin(),
                                like.octets.begin() +
                                    static_cast<long>(header_octets(like) - open));
    const size_t flags_place = header.size() - 2;
    const double later_s =
        (static_cast<double>(at) - static_cast<double>(like.bit_offset)) /
        d_bits_per_second;
    const double eot = like.pdu.eot - later_s / eot_unit_s;
    const int most = std::min(255, static_cast<int>(std::ceil(eot)) + eot_doubt);
    const int least = std::max(1, static_cast<int>(std::floor(eot)) - 1 - eot_doubt);
    std::vector<uint8_t> best;
    double best_share = code_ratios::min_agreement;
    for (int e = least; e <= most; ++e) {
        header[eot_place] = static_cast<uint8_t>(e);
        for (unsigned flags = 0; flags < 16; ++flags) {
            unsigned octet = like.octets[flags_place];
            for (unsigned k = 0; k < 4; ++k) {
                octet = (octet & ~open_flags[k]) |
                        ((flags >> k & 1) != 0 ? open_flags[k] : 0);
            }
            header[flags_place] = static_cast<uint8_t>(octet);
            const double share = ratios.agreement(at, header);
            if (share > best_share) {
                best_share = share;
                best = header;
            }
        }
    }
    return best;
}

// Numbers ascend within a transmission, except for copies that fill its end.
bool lost_headers::between(uint16_t number, const gap& g, const fsn_space& numbers)
{
    const auto half = static_cast<int>(numbers.half());
    const uint16_t after = g.after ? *g.after : numbers.add(g.until.value_or(0), -half);
    const unsigned until =
        g.until ? numbers.ahead(*g.until, after) : static_cast<unsigned>(half);
    const unsigned ahead = numbers.ahead(number, after);
    return until <= numbers.half() && ahead > 0 && ahead < until;
}

std::optional<received_d_pdu> lost_headers::read(const received_d_pdu& like,
                                                 uint64_t at,
                                                 const gap& g,
                                                 const code_ratios& ratios)
{
    received_d_pdu r;
    r.bit_offset = at;
    r.octets = header_at(like, at, ratios);
    const auto append = [&](size_t octets) {
        const auto soft =
            ratios.after(at + 8 * r.octets.size(), r.octets.back(), 8 * octets);
        if (soft.ratios.empty())
            return false;
        const auto bits =
            d_decode(soft.code, { soft.ratios.begin(), soft.ratios.end() }, 8 * octets);
        for (size_t k = 0; k + 8 <= bits.size(); k += 8) {
            unsigned octet = 0; // bit 0 is sent first
            for (unsigned i = 0; i < 8; ++i)
                octet |= static_cast<unsigned>(bits[k + i]) << i;
            r.octets.push_back(static_cast<uint8_t>(octet));
        }
        return true;
    };
    size_t need = 0;
    const bool large = like.pdu.large;
    if (r.octets.empty() || !append(number_octets(like) + crc_octets) ||
        !check_header(r.octets.data(), r.octets.size(), need, large) ||
        !append(like.pdu.segment.size() + segment_crc_octets))
        return std::nullopt;
    r.pdu = *decode_d_pdu(r.octets.data(), r.octets.size(), large);
    // Zeros have a good CRC.
    const auto segment = r.octets.begin() + static_cast<long>(header_octets(r));
    if (std::all_of(segment, r.octets.end(), [](uint8_t o) { return o == 0; }))
        return std::nullopt;
    return between(r.pdu.arq.fsn, g, fsn_space(large)) ? std::optional(std::move(r))
                                                       : std::nullopt;
}

} // namespace gr::hf::s5066
