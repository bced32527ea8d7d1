/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::ip {

using octets = std::vector<uint8_t>;

//! Protocol numbers used here (IANA).
enum protocol_number : uint8_t {
    proto_icmp = 1,
    proto_igmp = 2,
    proto_tcp = 6,
    proto_udp = 17,
    proto_icmp6 = 58,
    proto_ospf = 89,
    proto_vrrp = 112
};

/*! \brief Fields of one datagram. It refers to the octets it was read from and is valid
 *         only with them.
 *  \details \c ports and \c icmp_type of a later fragment are empty.
 */
struct packet_view {
    const uint8_t* data = nullptr;
    size_t size = 0; //!< whole datagram
    int version = 4; //!< 4 or 6
    address src;
    address dst;
    uint8_t protocol = 0;       //!< upper layer, IPv6 extension headers skipped
    uint8_t traffic_class = 0;  //!< TOS octet
    uint8_t hops = 0;           //!< TTL or hop limit
    bool dont_fragment = false; //!< always true for IPv6
    size_t upper = 0;           //!< offset of the upper layer
    bool has_ports = false;
    uint16_t src_port = 0;
    uint16_t dst_port = 0;
    int icmp_type = -1;          //!< -1: not ICMP
    bool later_fragment = false; //!< a fragment after the first: no ports
};

/*! \brief Check and read one datagram.
 *  \details Checks version, header length, total length equal to \p n, header checksum
 *  (IPv4), and that extension headers stay inside (IPv6). Empty if anything is wrong.
 */
std::optional<packet_view> read_packet(const uint8_t* p, size_t n);

//! One's complement sum of RFC 1071 over \p n octets, added to \p sum, not inverted.
uint32_t checksum_add(uint32_t sum, const uint8_t* p, size_t n);
//! Folded and inverted.
uint16_t checksum_fold(uint32_t sum);
//! Lower TTL or hop limit by one. Updates the IPv4 checksum (RFC 1624).
void decrement_hops(octets& datagram);
/*! \brief Lower the MSS option of a TCP SYN to \p mss if it is larger. Updates the
 *         checksum.
 *  \return true: it was lowered
 */
bool clamp_mss(octets& datagram, uint16_t mss);

//! Set the window field of the TCP header at offset \p upper. Updates its checksum.
void set_tcp_window(octets& datagram, size_t upper, uint16_t window);

/*! \brief Mark "congestion experienced" (RFC 3168). Updates the IPv4 checksum.
 *  \return false: the sender does not support marks
 */
bool mark_congestion(octets& datagram);
/*! \brief Cut an IPv4 datagram without DF into fragments of at most \p mtu octets (RFC
 *         791).
 *  \return empty: it must not be cut, or need not be
 */
std::vector<octets> fragments(const packet_view& v, size_t mtu);

//! Kind of ICMP error, for both families.
enum class icmp_error {
    net_unreachable,
    port_unreachable,
    too_big, //!< fragmentation needed or packet too big; carries the MTU
    time_exceeded
};
/*! \brief ICMP (RFC 792) or ICMPv6 (RFC 4443) error about \p about, back to its source.
 *  \param from our own address, same family
 *  \param mtu only with too_big
 *  \return empty when no error may be sent about such a packet: an ICMP error, multicast,
 *  a later fragment, an unspecified source
 */
std::optional<octets> make_icmp_error(icmp_error e,
                                      const packet_view& about,
                                      const address& from,
                                      size_t mtu = 0);

} // namespace gr::hf::ip
