/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/deframer.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {
// 90 EB; the first bit on the air is bit 0
constexpr unsigned sync_word = 0xeb90;

unsigned wrong_bits(unsigned w)
{
    unsigned n = 0;
    for (unsigned x = w ^ sync_word; x != 0; x &= x - 1)
        ++n;
    return n;
}

void put_sync(uint8_t* p)
{
    p[0] = sync_word & 0xff;
    p[1] = sync_word >> 8;
}
} // namespace

void d_pdu_deframer::reset()
{
    d_buf.clear();
    d_bit = 0;
    d_dropped = 0;
}

void d_pdu_deframer::push(const uint8_t* p, size_t n)
{
    const size_t done = d_bit / 8;
    d_buf.erase(d_buf.begin(), d_buf.begin() + static_cast<std::ptrdiff_t>(done));
    d_dropped += done;
    d_bit -= 8 * done;
    d_buf.insert(d_buf.end(), p, p + n);
}

void d_pdu_deframer::copy_octets(uint8_t* out, size_t n) const
{
    const unsigned shift = d_bit & 7;
    const uint8_t* p = d_buf.data() + d_bit / 8;
    for (size_t i = 0; i < n; ++i) {
        out[i] = shift == 0
                     ? p[i]
                     : static_cast<uint8_t>(p[i] >> shift | p[i + 1] << (8 - shift));
    }
}

bool d_pdu_deframer::find_sync()
{
    while (bits_left() >= 16) {
        uint8_t w[2];
        copy_octets(w, 2);
        const unsigned word = static_cast<unsigned>(w[1] << 8 | w[0]);
        if (word == sync_word || (d_sync_errors > 0 && wrong_bits(word) <= d_sync_errors))
            return true;
        ++d_bit;
    }
    return false;
}

// True for a D_PDU of large windows in our layout.
bool d_pdu_deframer::is_ours(const uint8_t* head, size_t n) const
{
    if (!d_reads_large || n < 3 || !is_large(static_cast<d_pdu_type>(head[2] >> 4)))
        return false;
    size_t need = 0;
    const auto d = decode_d_pdu(head, n);
    return d && d_reads_large(d->src, d->dst) && check_header(head, n, need, true);
}

std::optional<received_d_pdu> d_pdu_deframer::take(bool at_end)
{
    while (find_sync()) {
        uint8_t head[max_d_pdu_header];
        const size_t there = bits_left() / 8;
        const size_t n = std::min(there, max_d_pdu_header);
        copy_octets(head, n);
        put_sync(head);
        size_t need = 0;
        const bool large = is_ours(head, n);
        const auto e = check_header(head, n, need, large);
        if (!e && need > n && !at_end)
            return std::nullopt;
        if (!e) {
            ++d_false_syncs;
            ++d_bit;
            continue;
        }
        if (there < e->total && !at_end)
            return std::nullopt;
        received_d_pdu r;
        r.octets.resize(std::min(there, e->total));
        copy_octets(r.octets.data(), r.octets.size());
        put_sync(r.octets.data());
        r.bit_offset = 8 * d_dropped + d_bit;
        r.pdu = *decode_d_pdu(r.octets.data(), r.octets.size(), large);
        d_bit += 8 * r.octets.size();
        return r;
    }
    return std::nullopt;
}

} // namespace gr::hf::s5066
