/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/tcp_codec.h"

#include "s5066/pdu/crc.h"
#include "s5066/words/octets.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::modem_interface {
namespace {

using s5066::octet_reader;
using s5066::octet_writer;

constexpr uint8_t preamble[] = { 0x49, 0x50, 0x55 };
constexpr size_t checked_header = 6; // preamble, type, size

enum command : uint8_t {
    cmd_data_transfer = 0x00,
    cmd_transmit_arm = 0x01,
    cmd_transmit_start = 0x02,
    cmd_request_tx_status = 0x03,
    cmd_tx_data_nak = 0x04,
    cmd_tx_status = 0x05,
    cmd_abort_reception = 0x06,
    cmd_carrier_detect = 0x08,
    cmd_transmit_setup = 0x09,
    cmd_initial_setup = 0x0a,
    cmd_connection_probe = 0x0b
};

struct payload_writer {
    octet_writer w;

    void operator()(const data_transfer& p)
    {
        if (p.data.size() > max_transfer_data)
            throw std::invalid_argument("data transfer of " +
                                        std::to_string(p.data.size()) +
                                        " octets: allowed are 0 to 4072");
        w.u8(cmd_data_transfer);
        w.u8(static_cast<uint8_t>(p.order));
        w.bytes(p.id.data(), p.id.size());
        w.bytes(p.data);
    }
    void operator()(const transmit_arm&) { w.u8(cmd_transmit_arm); }
    void operator()(const transmit_start&) { w.u8(cmd_transmit_start); }
    void operator()(const request_tx_status&) { w.u8(cmd_request_tx_status); }
    void operator()(const abort_reception&) { w.u8(cmd_abort_reception); }
    void operator()(const connection_probe&) { w.u8(cmd_connection_probe); }
    void operator()(const tx_data_nak& p)
    {
        w.u8(cmd_tx_data_nak);
        w.u8(static_cast<uint8_t>(p.cause));
        w.bytes(p.id.data(), p.id.size());
    }
    void operator()(const tx_status& p)
    {
        w.u8(cmd_tx_status);
        w.u8(static_cast<uint8_t>(p.state));
        w.u32(p.fifo_space);
        w.u32(p.fifo_fill);
        w.u32(p.critical_ms);
        w.u32(p.critical_octets);
    }
    void operator()(const carrier_detect& p)
    {
        w.u8(cmd_carrier_detect);
        w.u8(p.carrier);
        w.u32(p.rate_bps);
        w.u32(p.blocking_bits);
    }
    void operator()(const transmit_setup& p)
    {
        w.u8(cmd_transmit_setup);
        w.u32(p.rate_bps);
        w.u32(p.blocking_bits);
    }
    void operator()(const initial_setup& p)
    {
        w.u8(cmd_initial_setup);
        w.u32(p.round_trip_ms);
        w.u32(p.min_latency_ms);
        w.u32(p.max_latency_ms);
        w.u8(p.synchronous);
        w.u8(p.data_bits);
        w.u8(p.stop_bits);
        w.u8(p.parity);
        w.u8(p.data_only);
    }
};

packet_id read_id(octet_reader& r)
{
    packet_id id{};
    for (auto& k : id)
        k = r.u8();
    return id;
}

std::optional<data_transfer> read_data_transfer(octet_reader& r)
{
    data_transfer p;
    const uint8_t order = r.u8();
    if (order < 1 || order > 4)
        return std::nullopt;
    p.order = static_cast<packet_order>(order);
    p.id = read_id(r);
    p.data = r.rest();
    return p;
}

std::optional<tx_data_nak> read_tx_data_nak(octet_reader& r)
{
    tx_data_nak p;
    const uint8_t cause = r.u8();
    if (cause > 3)
        return std::nullopt;
    p.cause = static_cast<nak_cause>(cause);
    p.id = read_id(r);
    return p;
}

std::optional<tx_status> read_tx_status(octet_reader& r)
{
    tx_status p;
    const uint8_t state = r.u8();
    if (state < 1 || state > 6)
        return std::nullopt;
    p.state = static_cast<transmitter_state>(state);
    p.fifo_space = r.u32();
    p.fifo_fill = r.u32();
    p.critical_ms = r.u32();
    p.critical_octets = r.u32();
    return p;
}

std::optional<carrier_detect> read_carrier_detect(octet_reader& r)
{
    carrier_detect p;
    const uint8_t state = r.u8();
    if (state > 1)
        return std::nullopt;
    p.carrier = state == 1;
    p.rate_bps = r.u32();
    p.blocking_bits = r.u32();
    return p;
}

transmit_setup read_transmit_setup(octet_reader& r)
{
    transmit_setup p;
    p.rate_bps = r.u32();
    p.blocking_bits = r.u32();
    return p;
}

std::optional<initial_setup> read_initial_setup(octet_reader& r)
{
    initial_setup p;
    p.round_trip_ms = r.u32();
    p.min_latency_ms = r.u32();
    p.max_latency_ms = r.u32();
    const uint8_t flag = r.u8();
    p.synchronous = flag == 1;
    p.data_bits = r.u8();
    p.stop_bits = r.u8();
    p.parity = r.u8();
    p.data_only = r.u8();
    if (flag > 1 || p.data_bits > 3 || p.stop_bits > 1 || p.parity > 2 || p.data_only > 1)
        return std::nullopt;
    return p;
}

std::optional<tcp_payload> read_fields(octet_reader& r)
{
    switch (r.u8()) {
    case cmd_data_transfer:
        return read_data_transfer(r);
    case cmd_transmit_arm:
        return transmit_arm{};
    case cmd_transmit_start:
        return transmit_start{};
    case cmd_request_tx_status:
        return request_tx_status{};
    case cmd_abort_reception:
        return abort_reception{};
    case cmd_connection_probe:
        return connection_probe{};
    case cmd_tx_data_nak:
        return read_tx_data_nak(r);
    case cmd_tx_status:
        return read_tx_status(r);
    case cmd_carrier_detect:
        return read_carrier_detect(r);
    case cmd_transmit_setup:
        return read_transmit_setup(r);
    case cmd_initial_setup:
        return read_initial_setup(r);
    default:
        return std::nullopt;
    }
}

} // namespace

octets encode(const tcp_packet& p)
{
    if (p.payload.size() > max_tcp_payload)
        throw std::invalid_argument("payload of " + std::to_string(p.payload.size()) +
                                    " octets: allowed are 0 to 4086");
    octet_writer w;
    w.bytes(preamble, sizeof(preamble));
    w.u8(p.type);
    w.u16(static_cast<unsigned>(p.payload.size()));
    w.u16(s5066::crc16(w.out().data(), checked_header));
    if (!p.payload.empty()) {
        w.bytes(p.payload);
        w.u16(s5066::crc16(p.payload.data(), p.payload.size()));
    }
    return std::move(w.out());
}

octets encode(const tcp_payload& p)
{
    payload_writer writer;
    std::visit(writer, p);
    return encode(
        tcp_packet{ static_cast<uint8_t>(packet_type::data), std::move(writer.w.out()) });
}

std::optional<tcp_payload> parse_payload(const octets& payload)
{
    octet_reader r(payload.data(), payload.size());
    auto p = read_fields(r);
    if (!r.ok() || r.left() != 0)
        return std::nullopt;
    return p;
}

void tcp_deframer::push(const uint8_t* p, size_t n)
{
    if (!d_foreign)
        d_buf.insert(d_buf.end(), p, p + n);
}

std::optional<tcp_packet> tcp_deframer::next()
{
    auto p = search();
    if (!p) {
        d_buf.erase(d_buf.begin(), d_buf.begin() + static_cast<ptrdiff_t>(d_begin));
        d_begin = 0;
    }
    return p;
}

std::optional<tcp_packet> tcp_deframer::search()
{
    while (!d_foreign) {
        const auto from = d_buf.begin() + static_cast<ptrdiff_t>(d_begin);
        const auto begin =
            std::search(from, d_buf.end(), std::begin(preamble), std::end(preamble));
        if (begin == d_buf.end()) {
            // The first two octets of the next preamble may have arrived already.
            skip(held() - std::min<size_t>(held(), sizeof(preamble) - 1));
            return std::nullopt;
        }
        skip(static_cast<size_t>(begin - from));
        if (d_foreign)
            break;
        if (held() < tcp_header_octets)
            return std::nullopt;
        const uint8_t* header = d_buf.data() + d_begin;
        octet_reader r(header + sizeof(preamble), held() - sizeof(preamble));
        const uint8_t type = r.u8();
        const size_t size = r.u16();
        if (r.u16() != s5066::crc16(header, checked_header) || size > max_tcp_payload) {
            skip(1);
            continue;
        }
        const size_t whole = tcp_header_octets + (size > 0 ? size + 2 : 0);
        if (held() < whole)
            return std::nullopt;
        octets payload = r.bytes(size);
        if (size > 0 && r.u16() != s5066::crc16(payload.data(), size)) {
            skip(whole);
            continue;
        }
        d_begin += whole;
        d_skipped = 0;
        d_begun = true;
        return tcp_packet{ type, std::move(payload) };
    }
    return std::nullopt;
}

void tcp_deframer::skip(size_t n)
{
    d_begin += n;
    d_skipped += n;
    d_foreign = d_foreign || (n > 0 && !d_begun);
}

} // namespace gr::hf::modem_interface
