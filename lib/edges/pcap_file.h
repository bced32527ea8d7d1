/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/node.h"
#include "s5066/node/pcap.h"

#include <hf/time.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief A capture file that Wireshark reads: what the engines make of D_PDUs and
 *         S_primitives, written as it happens.
 */
class pcap_file
{
public:
    enum class kind { d_pdu, sis };

    //! \param path empty: nothing is written \throws std::invalid_argument if it cannot be made
    pcap_file(const std::string& path, kind k);

    bool wanted() const { return d_file.is_open(); }
    /*! \brief Why nothing is written any more, once; else empty.
     *  \details The first write that fails ends the capture: what is in the file stays whole up
     *  to there.
     */
    std::string poll_failure();

    //! One D_PDU, into a file of that kind.
    void write(const s5066::tap_record& r);
    //! One S_primitive, into a file of that kind. \param to_client false: from the client
    void write(station_time now,
               uint64_t client,
               bool to_client,
               const std::vector<uint8_t>& primitive);

private:
    void put(const std::vector<uint8_t>& octets);

    const std::string d_path;
    std::string d_failure;
    std::ofstream d_file;
    s5066::pcap_writer d_d_pdus{ s5066::pcap_writer::link_d_pdu };
    s5066::sis_capture d_primitives;
};

} // namespace gr::hf
