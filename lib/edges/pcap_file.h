/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/node.h"
#include "s5066/node/pcap.h"

#include <hf/station_time.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief A capture file that Wireshark reads: D_PDUs or S_primitives of the engines,
 *         written as they occur.
 */
class pcap_file
{
public:
    enum class kind { d_pdu, sis };

    //! \param path empty: nothing is written \throws std::invalid_argument if the file
    //! cannot be made
    pcap_file(const std::string& path, kind k);

    bool wanted() const { return d_file.is_open(); }
    /*! \brief Why the capture ended, once; otherwise empty.
     *  \details The first write that fails ends the capture. The file is valid up to
     *  there.
     */
    std::string poll_failure();

    //! One D_PDU, into a file of kind D_PDUs.
    void write(const s5066::tap_record& r);
    //! One S_primitive, into a file of kind S_primitives. \param to_client false: from
    //! the client
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
