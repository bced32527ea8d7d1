/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/code_ratios.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace gr::hf::s5066 {

void code_ratios::reset(const gr::hf::mode& m)
{
    kernel::code_plan code;
    try {
        code = kernel::describe(m).code;
    } catch (const std::invalid_argument&) {
        // a mode of a foreign modem
    }
    reset(code);
}

void code_ratios::reset(const kernel::code_plan& code)
{
    d_octets = 0;
    d_ratios.clear();
    const bool kept =
        code.coded && !code.tail_biting && code.constraint_length <= longest_constraint;
    // The modem has added up repeats and filled in punctured bits.
    d_code = kept ? std::optional(code.mother()) : std::nullopt;
}

void code_ratios::push(const rx_octets& e)
{
    const uint64_t before = 8 * d_octets;
    d_octets += e.octets.size();
    if (!d_code || e.ratios.empty() || before > max_bits || e.ratios_from > max_bits ||
        before + e.ratios_from + e.ratios.size() / 2 > max_bits)
        return;
    const auto from = static_cast<size_t>(2 * (before + e.ratios_from));
    const size_t count = e.ratios.size() / 2 * 2;
    d_ratios.resize(std::max(d_ratios.size(), from + count));
    std::copy_n(e.ratios.begin(), count, d_ratios.begin() + static_cast<long>(from));
}

double code_ratios::agreement(uint64_t from, const std::vector<uint8_t>& octets) const
{
    if (!d_code || from > max_bits || d_ratios.size() < 2 * (from + 8 * octets.size()))
        return 0;
    std::vector<uint8_t> bits, code;
    for (size_t k = 0; k < 8 * octets.size(); ++k)
        bits.push_back(octets[k / 8] >> (k & 7) & 1);
    kernel::convolutional_encoder(*d_code).encode(bits.data(), bits.size(), code);
    double agree = 0, total = 0;
    // The first pairs depend on the bits before the octets.
    for (size_t k = 2 * (d_code->constraint_length - 1); k < code.size(); ++k) {
        const double ratio = d_ratios[2 * static_cast<size_t>(from) + k];
        agree += code[k] ? -ratio : ratio;
        total += std::abs(ratio);
    }
    return total > 0 ? agree / total : 0;
}

code_piece code_ratios::after(uint64_t from, uint8_t before, size_t bits) const
{
    if (!d_code || from > max_bits || d_ratios.size() < 2 * (from + bits))
        return {};
    const size_t begin = 2 * static_cast<size_t>(from);
    const size_t end = std::min(d_ratios.size(), begin + 2 * (bits + bits_after));
    std::vector<int8_t> ratios(d_ratios.begin() + static_cast<long>(begin),
                               d_ratios.begin() + static_cast<long>(end));
    // Bit 0 of an octet is sent first, so the last bits are the upper ones.
    const unsigned memory = d_code->constraint_length - 1;
    unsigned state = before >> (8 - memory);
    for (size_t k = 0; k < memory && 2 * k + 1 < ratios.size(); ++k, state >>= 1) {
        if (__builtin_parity(state & d_code->t1))
            ratios[2 * k] = static_cast<int8_t>(-ratios[2 * k]);
        if (__builtin_parity(state & d_code->t2))
            ratios[2 * k + 1] = static_cast<int8_t>(-ratios[2 * k + 1]);
    }
    return { *d_code, std::move(ratios) };
}

/* The CRC does not notice when bits have slipped: it starts at zero, so a segment with its
 * CRC is a code word of a cyclic code. The header tells, which has passed its own CRC. */
code_piece code_ratios::of_segment(const received_d_pdu& r) const
{
    const size_t octets = r.pdu.segment.size() + r.pdu.segment_crc.size();
    if (r.pdu.segment.empty() || r.pdu.segment_crc.empty() || r.octets.size() <= octets)
        return {};
    const std::vector<uint8_t> header(r.octets.begin(),
                                      r.octets.end() - static_cast<long>(octets));
    if (agreement(r.bit_offset, header) < min_agreement)
        return {};
    return after(r.bit_offset + 8 * header.size(), header.back(), 8 * octets);
}

} // namespace gr::hf::s5066
