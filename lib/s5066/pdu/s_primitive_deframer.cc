/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Finds S_primitives in an octet stream and checks their size field.
#include "s5066/pdu/s_primitive.h"

#include <algorithm>
#include <string>

namespace gr::hf::s5066 {

namespace {

constexpr uint8_t preamble_0 = 0x90;
constexpr uint8_t preamble_1 = 0xeb;

//! Layout from which the right size of a primitive follows.
struct size_layout {
    size_t fixed = 0;     //!< octets without the U_PDU; 0 if any size is allowed
    size_t length_at = 0; //!< offset of the U_PDU's length, from the preamble; 0 if none
    size_t mode_at = 0;   //!< offset of an indication's transmission mode; 0 if none
};

size_layout layout_of(uint8_t type)
{
    switch (type) {
    case 20:
    case 24:
        return { 12, 15 };
    case 21:
    case 25:
        return { 13, 16, 11 };
    case 22:
    case 23:
    case 26:
    case 27:
        return { 8, 11 };
    default:
        break;
    }
    static constexpr uint8_t sizes[] = { 0, 4, 1, 4, 2, 2, 6, 5, 7,
                                         7, 7, 7, 6, 7, 3, 1, 1, 1 };
    return { type < sizeof(sizes) ? sizes[type] : size_t(0) };
}

} // namespace

std::string sis_size_fault::to_string() const
{
    return "size field " + std::to_string(size) + " of " + primitive_name(type) +
           (swapped ? ": its octets are exchanged, the high one comes first and it is "
                    : ": must be ") +
           std::to_string(right);
}

std::optional<sis_size_fault> find_size_fault(const uint8_t* p, size_t n)
{
    if (n <= sis_header_octets)
        return std::nullopt;
    const auto u16 = [p](size_t at) { return size_t(p[at]) << 8 | p[at + 1]; };
    const auto swapped = [](size_t v) { return (v & 0xff) << 8 | v >> 8; };
    sis_size_fault f;
    f.size = u16(3);
    f.type = p[sis_header_octets];
    const auto layout = layout_of(f.type);
    if (!layout.fixed)
        return std::nullopt;
    f.right = layout.fixed;
    if (layout.length_at) {
        if (f.size >= f.right && n < layout.length_at + 2)
            return std::nullopt;
        if (n >= layout.length_at + 2) {
            const size_t length = u16(layout.length_at);
            f.right += length;
            // A client that swaps the two octets of one field probably swaps those of all.
            f.swapped = swapped(f.size) == layout.fixed + length ||
                        swapped(f.size) == layout.fixed + swapped(length);
        }
        // Only indications with errors carry lists of damaged blocks. Edition 1 servers
        // add two empty lists to the others.
        if (layout.mode_at && f.size >= f.right &&
            (p[layout.mode_at] >> 4 ==
                 static_cast<int>(transmission_mode::non_arq_with_errors) ||
             f.size == f.right + 4))
            return std::nullopt;
    } else {
        f.swapped = swapped(f.size) == f.right;
    }
    return f.size == f.right ? std::nullopt : std::optional(f);
}

void sis_deframer::push(const uint8_t* p, size_t n)
{
    d_buf.erase(d_buf.begin(), d_buf.begin() + static_cast<std::ptrdiff_t>(d_pos));
    d_pos = 0;
    if (!d_foreign)
        d_buf.insert(d_buf.end(), p, p + n);
}

std::optional<std::vector<uint8_t>> sis_deframer::next()
{
    static constexpr uint8_t head[] = { preamble_0, preamble_1, 0 };
    while (d_pos < d_buf.size() && !d_foreign) {
        const size_t n = d_buf.size() - d_pos;
        const uint8_t* p = d_buf.data() + d_pos;
        if (!std::equal(p, p + std::min<size_t>(n, 3), head) ||
            (n >= sis_header_octets && p[3] == 0 && p[4] == 0)) {
            skip();
            continue;
        }
        if (n < sis_header_octets)
            return std::nullopt;
        if (const auto fault = find_size_fault(p, n)) {
            d_size_fault = fault;
            skip();
            continue;
        }
        const size_t total = sis_header_octets + (size_t(p[3]) << 8 | p[4]);
        if (n < total)
            return std::nullopt;
        d_hunting = false;
        d_begun = true;
        d_pos += total;
        return std::vector<uint8_t>(p, p + total);
    }
    return std::nullopt;
}

void sis_deframer::skip()
{
    d_invalid += d_hunting ? 0 : 1;
    d_hunting = true;
    d_foreign = !d_begun;
    ++d_pos;
}

} // namespace gr::hf::s5066
