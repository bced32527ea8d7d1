/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node/pcap.h"

#include "s5066/words/octets.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr uint32_t magic_nanoseconds = 0xa1b23c4d;
constexpr size_t longest_record = 262144;
constexpr size_t min_d_pdu_record = 15;
constexpr size_t ip_header = 20;
constexpr size_t tcp_header = 20;
constexpr size_t longest_payload = 65535 - ip_header - tcp_header;
constexpr uint32_t node_ip = 0x0a000001; // 10.0.0.1; clients are 10.0.1.1
constexpr uint32_t client_ip = 0x0a000101;
constexpr unsigned first_client_port = 20000;

// pcap fields are in the writer's byte order; this is a little-endian file.
void le32(std::vector<uint8_t>& v, uint32_t x)
{
    for (int i = 0; i < 4; ++i)
        v.push_back(static_cast<uint8_t>(x >> (8 * i)));
}

uint32_t sum_words(const std::vector<uint8_t>& v, size_t from, size_t to)
{
    uint32_t s = 0;
    for (size_t i = from; i < to; ++i)
        s += static_cast<uint32_t>(v[i]) << ((i - from) % 2 == 0 ? 8 : 0);
    return s;
}

uint16_t checksum(uint32_t s)
{
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    return static_cast<uint16_t>(~s);
}

void put(std::vector<uint8_t>& v, size_t at, uint16_t x)
{
    v[at] = static_cast<uint8_t>(x >> 8);
    v[at + 1] = static_cast<uint8_t>(x & 0xff);
}

} // namespace

std::vector<uint8_t> pcap_writer::header() const
{
    std::vector<uint8_t> v;
    le32(v, magic_nanoseconds);
    le32(v, 2 | 4 << 16); // version 2.4
    le32(v, 0);
    le32(v, 0);
    le32(v, longest_record);
    le32(v, d_link_type);
    return v;
}

std::vector<uint8_t> pcap_writer::record(station_time t,
                                         const std::vector<uint8_t>& packet) const
{
    constexpr int64_t billion = 1000000000;
    const int64_t ns = std::max<int64_t>(t.count(), 0);
    const size_t n = std::min(packet.size(), longest_record);
    std::vector<uint8_t> v;
    v.reserve(16 + n);
    le32(v, static_cast<uint32_t>(d_epoch + ns / billion));
    le32(v, static_cast<uint32_t>(ns % billion));
    le32(v, static_cast<uint32_t>(n));
    le32(v, static_cast<uint32_t>(packet.size()));
    v.insert(v.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n));
    return v;
}

std::vector<uint8_t> pcap_writer::d_pdu(station_time t, std::vector<uint8_t> octets) const
{
    octets.resize(std::max(octets.size(), min_d_pdu_record));
    return record(t, octets);
}

std::vector<uint8_t> sis_capture::primitive(station_time t,
                                            uint64_t client,
                                            bool to_node,
                                            const std::vector<uint8_t>& primitive)
{
    connection& c = d_connections[client];
    const size_t n = std::min(primitive.size(), longest_payload);
    const auto port = static_cast<unsigned>(first_client_port + client % 40000);
    octet_writer w;
    w.u16(0x4500);
    w.u16(static_cast<unsigned>(ip_header + tcp_header + n));
    w.u32(0x00004000); // no identification, don't fragment
    w.u16(64 << 8 | 6);
    w.u16(0);
    w.u32(to_node ? client_ip : node_ip);
    w.u32(to_node ? node_ip : client_ip);
    w.u16(to_node ? port : sis_port);
    w.u16(to_node ? sis_port : port);
    w.u32(to_node ? c.to_node : c.to_client);
    w.u32(to_node ? c.to_client : c.to_node);
    w.u16(0x5018); // header of 20 octets, PSH and ACK
    w.u16(0xffff);
    w.u32(0);
    w.bytes(primitive.data(), n);
    auto& v = w.out();
    put(v, 10, checksum(sum_words(v, 0, ip_header)));
    // Pseudo header: both addresses, protocol, length.
    const uint32_t pseudo =
        sum_words(v, 12, 20) + 6 + static_cast<uint32_t>(tcp_header + n);
    put(v, ip_header + 16, checksum(pseudo + sum_words(v, ip_header, v.size())));
    (to_node ? c.to_node : c.to_client) += static_cast<uint32_t>(n);
    return d_pcap.record(t, v);
}

} // namespace gr::hf::s5066
