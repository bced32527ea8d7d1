/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pcap_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gr::hf {
namespace {

// Link types of the capture format.
constexpr uint32_t dlt_raw_ip = 101;
constexpr uint32_t dlt_stanag_5066_d_pdu = 237;

// Annex A: SIS over TCP.
constexpr uint16_t sis_tcp_port = 5066;

void put_le32(std::vector<uint8_t>& o, uint32_t v)
{
    for (int k = 0; k < 4; ++k)
        o.push_back(static_cast<uint8_t>(v >> (8 * k)));
}
void put_be16(std::vector<uint8_t>& o, uint32_t v)
{
    o.push_back(static_cast<uint8_t>(v >> 8));
    o.push_back(static_cast<uint8_t>(v));
}
void put_be32(std::vector<uint8_t>& o, uint32_t v)
{
    put_be16(o, v >> 16);
    put_be16(o, v & 0xffff);
}

//! The checksum of IPv4 and TCP over octets [from, end), on top of \p sum.
uint16_t internet_checksum(const std::vector<uint8_t>& o, size_t from, uint32_t sum)
{
    for (size_t k = from; k < o.size(); ++k)
        sum += (k - from) % 2 == 0 ? uint32_t(o[k]) << 8 : o[k];
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

} // namespace

pcap_file::pcap_file(const std::string& path, kind k)
{
    if (path.empty())
        return;
    d_file.open(path, std::ios::binary | std::ios::trunc);
    if (!d_file)
        throw std::invalid_argument("capture file '" + path +
                                    "' cannot be made: " + std::strerror(errno));
    std::vector<uint8_t> header;
    put_le32(header, 0xa1b23c4d); // times in nanoseconds
    put_le32(header, 2 | 4 << 16);
    put_le32(header, 0);
    put_le32(header, 0);
    put_le32(header, 65535);
    put_le32(header, k == kind::d_pdu ? dlt_stanag_5066_d_pdu : dlt_raw_ip);
    d_file.write(reinterpret_cast<const char*>(header.data()),
                 static_cast<std::streamsize>(header.size()));
}

void pcap_file::write(const s5066::tap_record& r) { write(r.time, r.octets); }

// Each client is a TCP connection of its own to port 5066, so that Wireshark follows it.
void pcap_file::write(sim_time now,
                      uint64_t client,
                      bool to_client,
                      const std::vector<uint8_t>& primitive)
{
    if (!wanted() || primitive.size() > 65000)
        return;
    constexpr uint32_t loopback = 0x7f000001;
    const auto client_port = static_cast<uint16_t>(49152 + client % 16384);
    auto& sequence = d_sequence[{ client, to_client }];
    const uint32_t acknowledged = d_sequence[{ client, !to_client }] + 1;

    std::vector<uint8_t> packet;
    put_be16(packet, 0x4500);
    put_be16(packet, static_cast<uint32_t>(40 + primitive.size()));
    put_be32(packet, 0x00004000); // not a fragment
    put_be32(packet, 64u << 24 | 6u << 16);
    put_be32(packet, loopback);
    put_be32(packet, loopback);
    const uint16_t ip_checksum = internet_checksum(packet, 0, 0);
    packet[10] = static_cast<uint8_t>(ip_checksum >> 8);
    packet[11] = static_cast<uint8_t>(ip_checksum);

    const size_t tcp = packet.size();
    put_be16(packet, to_client ? sis_tcp_port : client_port);
    put_be16(packet, to_client ? client_port : sis_tcp_port);
    put_be32(packet, sequence + 1);
    put_be32(packet, acknowledged);
    put_be32(packet, 0x5018ffff); // 20 octets of header, PSH and ACK, window
    put_be32(packet, 0);
    packet.insert(packet.end(), primitive.begin(), primitive.end());
    const uint32_t pseudo_header = 2 * ((loopback >> 16) + (loopback & 0xffff)) + 6 +
                                   static_cast<uint32_t>(packet.size() - tcp);
    const uint16_t tcp_checksum = internet_checksum(packet, tcp, pseudo_header);
    packet[tcp + 16] = static_cast<uint8_t>(tcp_checksum >> 8);
    packet[tcp + 17] = static_cast<uint8_t>(tcp_checksum);

    sequence += static_cast<uint32_t>(primitive.size());
    write(now, packet);
}

void pcap_file::write(sim_time now, const std::vector<uint8_t>& octets)
{
    if (!wanted())
        return;
    std::vector<uint8_t> record;
    const auto ns = static_cast<uint64_t>(now.count());
    put_le32(record, static_cast<uint32_t>(ns / 1000000000));
    put_le32(record, static_cast<uint32_t>(ns % 1000000000));
    put_le32(record, static_cast<uint32_t>(octets.size()));
    put_le32(record, static_cast<uint32_t>(octets.size()));
    record.insert(record.end(), octets.begin(), octets.end());
    d_file.write(reinterpret_cast<const char*>(record.data()),
                 static_cast<std::streamsize>(record.size()));
    // Somebody may look while the station runs.
    d_file.flush();
}

} // namespace gr::hf
