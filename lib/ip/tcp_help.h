/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/packet.h"
#include <hf/station_time.h>

#include <map>
#include <optional>
#include <tuple>

namespace gr::hf::ip {

//! Fields of a TCP header.
struct tcp_fields {
    uint32_t seq = 0, ack = 0;
    uint8_t flags = 0;
    uint16_t window = 0; //!< raw value of the header
    size_t payload = 0;  //!< octets after the header

    static constexpr uint8_t fin = 1, syn = 2, rst = 4, ack_valid = 16, ece = 64,
                             cwr = 128;
    bool has(uint8_t f) const { return (flags & f) != 0; }
    bool pure_ack() const
    {
        return payload == 0 &&
               (flags & (fin | syn | rst | ack_valid | ece | cwr)) == ack_valid;
    }
};
//! Empty: not TCP, a later fragment, or truncated.
std::optional<tcp_fields> tcp_of(const packet_view& v);
//! Octet offset of an option in the TCP header of \p v. Empty: missing or malformed.
std::optional<size_t> find_tcp_option(const packet_view& v, uint8_t kind, uint8_t length);

//! Identity of a TCP segment: addresses, ports, sequence number, length, flags.
using segment_key = std::tuple<address, address, uint32_t, uint32_t, size_t, uint8_t>;
//! Empty: \p v has no data, SYN or FIN.
std::optional<segment_key> key_of_segment(const packet_view& v);

//! One direction of a TCP connection: source, destination, both ports.
using tcp_direction = std::tuple<address, address, uint32_t>;
//! \p v must be TCP with ports.
tcp_direction direction_of(const packet_view& v);

/*! \brief State of the TCP connections that pass an IP client.
 *
 * It sees both directions of a connection whose data is sent on this side. ARQ delivers
 * every segment, only late. So repeats of a segment on its way are kept off the link. The
 * sender's window is limited to what the link carries in one or two transmissions. More
 * would wait for minutes, and a timer would expire.
 */
class tcp_flows
{
public:
    //! \param window_octets octets that all connections to one node together may have on
    //! their way
    //! \param repeat_wait how long repeats of a delivered segment are suppressed
    tcp_flows(size_t window_octets, station_time repeat_wait)
        : d_window(window_octets), d_repeat_wait(repeat_wait)
    {
    }

    //! A segment is passed to SIS.
    void sent(const segment_key& k) { ++d_in_sis[k]; }
    //! SIS has settled it. \p delivered: the far node has it.
    void settled(station_time now, const segment_key& k, bool delivered);
    //! \p k is in SIS, or was delivered and the far side has not been heard since.
    bool under_way(station_time now, const segment_key& k);

    //! A packet of this host for HF.
    void from_host(station_time now, const packet_view& v);
    /*! \brief A packet from HF. Records it, and lowers its window if it offers too much.
     *  \details An offer is never taken back (RFC 9293 3.8.6).
     *  \return whether the window was lowered
     */
    bool from_hf(station_time now, octets& packet);

private:
    using flow_key =
        std::tuple<address, address, uint16_t, uint16_t>; // our address and port first
    struct flow {
        std::optional<unsigned> near_shift, far_shift; // window scaling of SYNs; empty:
                                                       // no option
        bool near_syn = false, far_syn = false;
        std::optional<uint32_t> edge; // first number beyond the offered window
        station_time heard_at{ -1 };  // last segment from HF
        station_time used_at{};
        bool sends = false; // this side has sent data
    };
    flow* flow_of(station_time now, const flow_key& k, bool make);
    size_t share(station_time now) const;

    size_t d_window;
    station_time d_repeat_wait;
    std::map<segment_key, int> d_in_sis;
    std::map<segment_key, station_time> d_delivered;
    std::map<flow_key, flow> d_flows;
};

} // namespace gr::hf::ip
