/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/interleaver_set.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

// Sets kept while an earlier one is missing.
constexpr uint64_t window = 16;

} // namespace

const octets end_of_message{ 0x4b, 0x65, 0xa5, 0xb2, 0x26, 0xd2, 0xd3, 0x69 };

set_layout set_layout::of(uint32_t rate_bps, uint32_t blocking_bits)
{
    set_layout s;
    if (rate_bps > 28800) {
        s.n = 8;
        s.k = 5;
    } else if (rate_bps > 2400) {
        s.n = 7;
        s.k = 4;
    }
    const size_t divisor = 8 * s.k;
    const size_t rows = blocking_bits / divisor + (blocking_bits % divisor != 0);
    s.rows = std::clamp<size_t>(rows, 1, max_encoded_data);
    return s;
}

// Row r of the interleaver is codeword pair r: upper nibbles, then lower ones.
std::vector<octets> encode_set(const set_layout& s, const octets& user)
{
    const erasure_code code(s.n, s.k);
    std::vector<octets> packets(s.n, octets(s.rows));
    std::vector<uint8_t> upper(s.k), lower(s.k);
    for (size_t r = 0; r < s.rows; ++r) {
        for (size_t i = 0; i < s.k; ++i) {
            const uint8_t o = user[r * s.k + i];
            upper[i] = o >> 4;
            lower[i] = o & 0x0f;
        }
        const auto u = code.encode(upper.data());
        const auto l = code.encode(lower.data());
        for (size_t p = 0; p < s.n; ++p)
            packets[p][r] = static_cast<uint8_t>(u[p] << 4 | l[p]);
    }
    return packets;
}

std::optional<octets> decode_set(const set_layout& s, const std::vector<octets>& packets)
{
    std::vector<bool> have(s.n);
    for (size_t p = 0; p < s.n; ++p)
        have[p] = packets[p].size() == s.rows;
    const auto recovery = erasure_code(s.n, s.k).recovery(have);
    if (!recovery)
        return std::nullopt;
    octets user(s.octets());
    for (size_t i = 0; i < s.k; ++i) {
        const size_t p = s.n - s.k + i;
        const auto& row = (*recovery)[p];
        for (size_t r = 0; r < s.rows; ++r) {
            uint8_t o = 0;
            if (have[p]) {
                o = packets[p][r];
            } else {
                uint8_t upper = 0, lower = 0;
                for (size_t q = 0; q < s.n; ++q) {
                    if (!have[q])
                        continue;
                    upper ^= erasure_code::multiply(row[q], packets[q][r] >> 4);
                    lower ^= erasure_code::multiply(row[q], packets[q][r] & 0x0f);
                }
                o = static_cast<uint8_t>(upper << 4 | lower);
            }
            user[r * s.k + i] = o;
        }
    }
    return user;
}

set_encoder::set_encoder(uint16_t transfer,
                         uint32_t rate_bps,
                         uint32_t blocking_bits,
                         bool enhanced)
    : d_layout(set_layout::of(rate_bps, blocking_bits))
{
    d_head.transfer = transfer;
    d_head.enhanced = enhanced;
    d_head.rate_bps = rate_bps;
    d_head.blocking_bits = blocking_bits;
    d_head.fec_n = static_cast<uint8_t>(d_layout.n);
    d_head.fec_k = static_cast<uint8_t>(d_layout.k);
}

void set_encoder::push(const octets& user)
{
    d_buf.insert(d_buf.end(), user.begin(), user.end());
    while (d_buf.size() >= d_layout.octets())
        emit(false);
}

void set_encoder::finish()
{
    d_buf.insert(d_buf.end(), end_of_message.begin(), end_of_message.end());
    while (d_buf.size() > d_layout.octets())
        emit(false);
    d_buf.resize(d_layout.octets());
    emit(true);
}

void set_encoder::emit(bool last)
{
    const auto end = d_buf.begin() + static_cast<ptrdiff_t>(d_layout.octets());
    d_head.first_set = !d_any;
    d_head.last_set = last;
    for (auto& data : encode_set(d_layout, { d_buf.begin(), end })) {
        d_out.push_back(d_head);
        d_out.back().data = std::move(data);
        ++d_head.sequence;
    }
    d_buf.erase(d_buf.begin(), end);
    d_any = true;
    d_head.enhanced = false;
}

std::optional<encoded_data> set_encoder::poll()
{
    if (d_out.empty())
        return std::nullopt;
    auto d = std::move(d_out.front());
    d_out.pop_front();
    return d;
}

bool set_decoder::push(const encoded_data& d)
{
    if (d_finished || d.data.empty())
        return false;
    if (!d_begun) {
        d_begun = true;
        d_transfer = d.transfer;
        d_layout = { d.fec_n, d.fec_k, d.data.size() };
    }
    if (d.transfer != d_transfer || d.fec_n != d_layout.n || d.fec_k != d_layout.k ||
        d.data.size() != d_layout.rows)
        return false;
    const uint64_t base = d_next * d_layout.n;
    const auto ahead = static_cast<uint16_t>(d.sequence - static_cast<uint16_t>(base));
    if (ahead >= window * d_layout.n) { // past packets appear far ahead, too
        // Late rather than lost, if the set could be decoded without it.
        d_lost -= d_lost > 0 && ahead >= 65536 - d_layout.n;
        return false;
    }
    const uint64_t sequence = base + ahead;
    slot& s = d_sets[sequence / d_layout.n];
    s.packets.resize(d_layout.n);
    octets& place = s.packets[sequence % d_layout.n];
    if (!place.empty())
        return false;
    place = d.data;
    ++s.count;
    s.last = s.last || d.last_set;
    advance();
    return true;
}

void set_decoder::advance()
{
    for (auto it = d_sets.find(d_next);
         !d_finished && it != d_sets.end() && it->second.count >= d_layout.k;
         it = d_sets.find(d_next)) {
        slot s = std::move(it->second);
        d_sets.erase(it);
        ++d_next;
        d_lost += d_layout.n - s.count;
        give(*decode_set(d_layout, s.packets), s.last);
    }
}

// A set is returned as soon as K of its packets have arrived. The others then count as
// lost, even if they are only late.
void set_decoder::give(octets user, bool last)
{
    d_tail.insert(d_tail.end(), user.begin(), user.end());
    size_t keep = std::min(d_tail.size(), end_of_message.size() - 1);
    if (last) {
        d_finished = true;
        d_sets.clear();
        keep = 0;
        size_t end = d_tail.size();
        while (end > 0 && d_tail[end - 1] == 0)
            --end;
        const size_t marker = end_of_message.size();
        if (end >= marker &&
            std::equal(end_of_message.begin(),
                       end_of_message.end(),
                       d_tail.begin() + static_cast<ptrdiff_t>(end - marker)))
            d_tail.resize(end - marker);
    }
    const auto cut = d_tail.end() - static_cast<ptrdiff_t>(keep);
    if (cut != d_tail.begin())
        d_out.emplace_back(d_tail.begin(), cut);
    d_tail.erase(d_tail.begin(), cut);
}

std::optional<octets> set_decoder::poll()
{
    if (d_out.empty())
        return std::nullopt;
    auto o = std::move(d_out.front());
    d_out.pop_front();
    return o;
}

size_t set_decoder::sets_ahead() const { return d_sets.size() - d_sets.count(d_next); }

void set_decoder::skip_set()
{
    if (!d_begun || d_finished)
        return;
    const auto it = d_sets.find(d_next);
    const bool last = it != d_sets.end() && it->second.last;
    d_lost += d_layout.n - (it != d_sets.end() ? it->second.count : 0);
    d_sets.erase(d_next);
    ++d_next;
    give(octets(d_layout.octets()), last);
    advance();
}

} // namespace gr::hf::modem_interface
