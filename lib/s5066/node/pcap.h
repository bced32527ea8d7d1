/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"

#include <hf/station_time.h>

#include <cstdint>
#include <map>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Formats the octets of pcap files; the caller writes them.
 *
 * Nanosecond format, little endian. Times are station time plus \p epoch.
 */
class pcap_writer
{
public:
    //! Link type for D_PDUs, one per record (DLT_STANAG_5066_D_PDU).
    static constexpr uint32_t link_d_pdu = 237;
    //! Link type for IP packets (LINKTYPE_RAW).
    static constexpr uint32_t link_raw_ip = 101;

    //! \param epoch seconds since 1970 at station time 0
    explicit pcap_writer(uint32_t link_type, int64_t epoch = 0)
        : d_link_type(link_type), d_epoch(epoch)
    {
    }

    //! The 24 octets at the start of the file.
    std::vector<uint8_t> header() const;
    //! One record.
    std::vector<uint8_t> record(station_time t, const std::vector<uint8_t>& packet) const;
    /*! \brief Record of one D_PDU. Those shorter than 15 octets are padded with zeros,
     *         because tshark does not dissect shorter records; no length field or CRC is
     *         changed.
     */
    std::vector<uint8_t> d_pdu(station_time t, std::vector<uint8_t> octets) const;

private:
    uint32_t d_link_type;
    int64_t d_epoch;
};

/*! \brief Wraps S_primitives into TCP over IPv4 between made-up addresses, port 5066, as
 *         if every client were connected over a network, so that tshark dissects them.
 */
class sis_capture
{
public:
    //! \param epoch seconds since 1970 at station time 0
    explicit sis_capture(int64_t epoch = 0) : d_pcap(pcap_writer::link_raw_ip, epoch) {}
    std::vector<uint8_t> header() const { return d_pcap.header(); }
    /*! \brief Record of one primitive.
     *  \param t when it passed
     *  \param client number of the client's connection
     *  \param to_node true: from the client to the node
     *  \param primitive whole, at most 65495 octets; longer ones are cut
     */
    std::vector<uint8_t> primitive(station_time t,
                                   uint64_t client,
                                   bool to_node,
                                   const std::vector<uint8_t>& primitive);

private:
    struct connection {
        uint32_t to_node = 1; // next TCP sequence numbers
        uint32_t to_client = 1;
    };
    pcap_writer d_pcap;
    std::map<uint64_t, connection> d_connections;
};

} // namespace gr::hf::s5066
