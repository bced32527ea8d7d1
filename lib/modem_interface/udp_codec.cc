/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/udp_codec.h"

#include "s5066/pdu/crc.h"
#include "s5066/words/octets.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::modem_interface {
namespace {

using s5066::octet_reader;
using s5066::octet_writer;

enum type : uint8_t {
    type_ping_request = 1,
    type_ping_reply = 2,
    type_status_request = 3,
    type_status_reply = 4,
    type_encoded_data = 5,
    type_enhanced_encoded_data = 6,
    type_command_request = 7,
    type_command_ack = 8
};

constexpr uint8_t fec_and_interleaver = 0x11; // Reed-Solomon with erasures, standard
constexpr size_t header_octets = 4;

void put24(octet_writer& w, uint32_t v)
{
    if (v >> 24)
        throw std::invalid_argument("field of 24 bits: " + std::to_string(v) +
                                    " does not fit");
    w.u8(v >> 16);
    w.u16(v & 0xffff);
}

uint32_t get24(octet_reader& r)
{
    const uint32_t high = r.u8();
    return high << 16 | r.u16();
}

struct body_writer {
    octet_writer& w;

    uint8_t operator()(const ping_request&) { return type_ping_request; }
    uint8_t operator()(const ping_reply&) { return type_ping_reply; }
    uint8_t operator()(const status_request&) { return type_status_request; }
    uint8_t operator()(const status_reply& s)
    {
        w.u16(s.sequence);
        w.u16(s.transfer);
        w.u16(0);
        w.u8(s.errors);
        w.u8(unsigned(s.rx_started) << 5 | unsigned(s.carrier) << 4 |
             unsigned(s.tx) << 1 | unsigned(s.in_control));
        w.u16(s.dropped);
        w.u16(s.jitter_ms);
        w.u32(s.queue_fill);
        w.u32(s.queue_space);
        put24(w, s.rx_rate_bps);
        put24(w, s.rx_blocking_bits);
        put24(w, s.tx_rate_bps);
        put24(w, s.tx_blocking_bits);
        return type_status_reply;
    }
    uint8_t operator()(const encoded_data& d)
    {
        if (d.data.size() > max_encoded_data)
            throw std::invalid_argument("encoded data of " +
                                        std::to_string(d.data.size()) +
                                        " octets: allowed are 0 to 1200");
        w.u16(d.transfer);
        w.u16(d.sequence);
        w.u8(unsigned(d.holdoff) << 2 | unsigned(d.last_set) << 1 |
             unsigned(d.first_set));
        w.u8(fec_and_interleaver);
        w.u8(d.fec_n);
        w.u8(d.fec_k);
        w.u16(static_cast<unsigned>(d.data.size()));
        if (d.enhanced) {
            put24(w, d.rate_bps);
            put24(w, d.blocking_bits);
        } else {
            w.u16(0);
        }
        w.u32(d.timestamp);
        w.bytes(d.data);
        return d.enhanced ? type_enhanced_encoded_data : type_encoded_data;
    }
    uint8_t operator()(const command_request& c)
    {
        w.u16(c.sequence);
        w.u8(c.command);
        w.u8(0);
        return type_command_request;
    }
    uint8_t operator()(const command_ack& c)
    {
        w.u16(c.sequence);
        w.u16(0);
        return type_command_ack;
    }
};

status_reply read_status(octet_reader& r)
{
    status_reply s;
    s.sequence = r.u16();
    s.transfer = r.u16();
    r.u16();
    s.errors = r.u8();
    const unsigned v = r.u8();
    s.rx_started = (v >> 5 & 3) != 0;
    s.carrier = (v >> 4 & 1) != 0;
    s.tx = static_cast<udp_tx_state>(std::min(v >> 1 & 7u, 3u));
    s.in_control = (v & 1) != 0;
    s.dropped = r.u16();
    s.jitter_ms = r.u16();
    s.queue_fill = r.u32();
    s.queue_space = r.u32();
    s.rx_rate_bps = get24(r);
    s.rx_blocking_bits = get24(r);
    s.tx_rate_bps = get24(r);
    s.tx_blocking_bits = get24(r);
    return s;
}

std::optional<encoded_data> read_encoded(octet_reader& r, bool enhanced)
{
    encoded_data d;
    d.enhanced = enhanced;
    d.transfer = r.u16();
    d.sequence = r.u16();
    const uint8_t control = r.u8();
    d.holdoff = (control & 4) != 0;
    d.last_set = (control & 2) != 0;
    d.first_set = (control & 1) != 0;
    if (r.u8() != fec_and_interleaver)
        return std::nullopt;
    d.fec_n = r.u8();
    d.fec_k = r.u8();
    if (d.fec_k < 1 || d.fec_k >= d.fec_n || d.fec_n > 15)
        return std::nullopt;
    const size_t length = r.u16();
    if (enhanced) {
        d.rate_bps = get24(r);
        d.blocking_bits = get24(r);
    } else {
        r.u16();
    }
    d.timestamp = r.u32();
    if (length > max_encoded_data || r.left() != length)
        return std::nullopt;
    d.data = r.rest();
    return d;
}

} // namespace

octets encode(const udp_packet& p)
{
    octet_writer body;
    const uint8_t type = std::visit(body_writer{ body }, p.what);
    octet_writer w;
    w.u8(udp_version << 4 | type);
    put24(w, p.session);
    w.bytes(body.out());
    w.u16(s5066::crc16(w.out().data(), w.out().size()));
    return std::move(w.out());
}

std::optional<udp_packet> parse_datagram(const uint8_t* p, size_t n)
{
    if (n < header_octets + 2 || n > max_datagram || p[0] >> 4 != udp_version)
        return std::nullopt;
    octet_reader crc(p + n - 2, 2);
    if (crc.u16() != s5066::crc16(p, n - 2))
        return std::nullopt;
    octet_reader r(p, n - 2);
    const uint8_t type = r.u8() & 0x0f;
    udp_packet out;
    out.session = get24(r);
    switch (type) {
    case type_ping_request:
        out.what = ping_request{};
        break;
    case type_ping_reply:
        out.what = ping_reply{};
        break;
    case type_status_request:
        out.what = status_request{};
        break;
    case type_status_reply:
        out.what = read_status(r);
        break;
    case type_encoded_data:
    case type_enhanced_encoded_data: {
        auto d = read_encoded(r, type == type_enhanced_encoded_data);
        if (!d)
            return std::nullopt;
        out.what = std::move(*d);
        break;
    }
    case type_command_request: {
        command_request c;
        c.sequence = r.u16();
        c.command = r.u8();
        r.u8();
        out.what = c;
        break;
    }
    case type_command_ack: {
        const uint16_t sequence = r.u16();
        r.u16();
        out.what = command_ack{ sequence };
        break;
    }
    default:
        return std::nullopt;
    }
    if (!r.ok() || r.left() != 0)
        return std::nullopt;
    return out;
}

std::string control_line(uint16_t port) { return "UDP " + std::to_string(port); }

std::optional<uint16_t> parse_control_line(const std::string& line)
{
    if (line.size() < 5 || line.size() > 9 || line.compare(0, 4, "UDP ") != 0)
        return std::nullopt;
    unsigned port = 0;
    for (size_t k = 4; k < line.size(); ++k) {
        if (line[k] < '0' || line[k] > '9')
            return std::nullopt;
        port = 10 * port + static_cast<unsigned>(line[k] - '0');
    }
    if (port < 1 || port > 65535)
        return std::nullopt;
    return static_cast<uint16_t>(port);
}

} // namespace gr::hf::modem_interface
