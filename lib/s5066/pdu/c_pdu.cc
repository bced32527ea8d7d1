/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/pdu/c_pdu.h"

#include "s5066/words/octets.h"

namespace gr::hf::s5066 {

std::vector<uint8_t> encode(const c_pdu& c)
{
    if (c.low > 15)
        return {};
    octet_writer w;
    w.u8(static_cast<unsigned>(c.type) << 4 | c.low);
    if (c.type == c_pdu_type::data)
        w.bytes(c.s_pdu);
    return std::move(w.out());
}

std::optional<c_pdu> decode_c_pdu(const uint8_t* p, size_t n)
{
    if (n == 0 || p[0] >> 4 > 5)
        return std::nullopt;
    c_pdu c;
    c.type = static_cast<c_pdu_type>(p[0] >> 4);
    c.low = p[0] & 0xf;
    if (c.type == c_pdu_type::data)
        c.s_pdu.assign(p + 1, p + n);
    return c;
}

} // namespace gr::hf::s5066
