/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node.h"

#include <hf/time.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf {

/*! \brief A capture file that Wireshark reads: D_PDUs, or S_primitives as if over TCP. */
class pcap_file
{
public:
    enum class kind { d_pdu, sis };

    //! \param path empty: nothing is written \throws std::invalid_argument if it cannot be made
    pcap_file(const std::string& path, kind k);

    bool wanted() const { return d_file.is_open(); }

    void write(const s5066::tap_record& r);
    //! \param to_client false: from the client
    void write(sim_time now,
               uint64_t client,
               bool to_client,
               const std::vector<uint8_t>& primitive);

private:
    void write(sim_time now, const std::vector<uint8_t>& octets);

    std::ofstream d_file;
    //! Octets so far of a client, from it (false) and to it.
    std::map<std::pair<uint64_t, bool>, uint32_t> d_sequence;
};

} // namespace gr::hf
