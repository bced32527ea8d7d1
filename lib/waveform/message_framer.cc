/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/message_framer.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::kernel {

message_framer::message_framer(const description& d, bool eom) : d_d(d), d_eom(eom)
{
    if (!eom && !d.eom_optional)
        throw std::invalid_argument("eom = false: mode " + d.m.to_string() +
                                    " always sends the end-of-message marker");
}

size_t message_framer::octets_wanted() const
{
    // Fewer than 8 bits can remain from the previous block.
    return d_ended || ready() ? 0 : (d_d.input_bits - d_bits.size() + 7) / 8;
}

void message_framer::give(const uint8_t* octets, size_t n, bool last)
{
    const size_t wanted = octets_wanted();
    last = last || n < wanted;
    n = std::min(n, wanted);
    for (size_t i = 0; i < n; ++i)
        for (int b = 0; b < 8; ++b)
            d_bits.push_back(octets[i] >> (d_d.most_significant_first ? 7 - b : b) & 1);
    if (!last || d_ended)
        return;
    d_ended = true;
    if (d_eom)
        for (size_t b = 0; b < eom_bits; ++b)
            d_bits.push_back(eom_marker >> (eom_bits - 1 - b) & 1);
    d_bits.insert(d_bits.end(), d_d.flush_bits, 0);
}

bool message_framer::ready() const
{
    return d_bits.size() >= d_d.input_bits || (d_ended && !d_bits.empty());
}

std::vector<uint8_t> message_framer::take()
{
    if (d_bits.size() < d_d.input_bits)
        d_bits.resize(d_d.input_bits, 0);
    const auto end = d_bits.begin() + static_cast<std::ptrdiff_t>(d_d.input_bits);
    std::vector<uint8_t> block(d_bits.begin(), end);
    d_bits.erase(d_bits.begin(), end);
    return block;
}

} // namespace gr::hf::kernel
