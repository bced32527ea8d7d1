/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/clients/cftp.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// First octets of the body of a file and of its acknowledgement. The later header has the
// same numbers as application identifiers.
constexpr uint16_t file_mark = app_bftp;
constexpr uint16_t acknowledgement_mark = app_frap;
constexpr size_t mark_octets = 2;

uint16_t mark_of(const std::vector<uint8_t>& data)
{
    octet_reader r(data.data(), data.size());
    return r.u16();
}

} // namespace

std::vector<uint8_t> encode(const cftp_segment& s)
{
    if (s.connection > 15)
        return {};
    octet_writer w;
    write(w, s);
    w.bytes(s.data);
    return std::move(w.out());
}

std::optional<cftp_segment> decode_cftp(const uint8_t* p, size_t n)
{
    octet_reader r(p, n);
    cftp_segment s;
    if (!read(r, s))
        return std::nullopt;
    s.data = r.rest();
    return s;
}

std::vector<std::vector<uint8_t>> cftp_segments(uint8_t connection,
                                                uint8_t id,
                                                const std::string& name,
                                                const std::vector<uint8_t>& file,
                                                size_t mtu)
{
    const auto body = bftp_message(name, file);
    if (body.empty() || connection > 15 || mtu <= cftp_header_octets + mark_octets)
        return {};
    octet_writer w;
    w.u16(file_mark);
    w.bytes(body);
    const auto& all = w.out();
    const size_t room = mtu - cftp_header_octets;
    if ((all.size() + room - 1) / room > rcop_max_segments)
        return {};
    std::vector<std::vector<uint8_t>> u_pdus;
    for (size_t at = 0; at < all.size(); at += room) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
        const size_t n = std::min(room, all.size() - at);
        u_pdus.push_back(
            encode(cftp_segment{ { connection, id, static_cast<uint16_t>(at / room) },
                                 { begin, begin + static_cast<std::ptrdiff_t>(n) } }));
    }
    return u_pdus;
}

std::optional<bftp_header> decode_cftp_header(const cftp_segment& first)
{
    if (first.segment != 0 || first.data.size() < mark_octets ||
        mark_of(first.data) != file_mark)
        return std::nullopt;
    return decode_bftp_header(first.data.data() + mark_octets,
                              first.data.size() - mark_octets);
}

std::optional<bftp_file> decode_cftp_file(const std::vector<uint8_t>& data)
{
    if (data.size() < mark_octets || mark_of(data) != file_mark)
        return std::nullopt;
    return decode_bftp({ data.begin() + mark_octets, data.end() });
}

std::vector<uint8_t> cftp_acknowledgement(uint8_t connection, uint8_t id)
{
    octet_writer w;
    w.u16(acknowledgement_mark);
    return encode(cftp_segment{ { connection, id, 0 }, w.out() });
}

bool is_cftp_acknowledgement(const cftp_segment& s)
{
    return s.segment == 0 && s.data.size() == mark_octets &&
           mark_of(s.data) == acknowledgement_mark;
}

} // namespace gr::hf::s5066
