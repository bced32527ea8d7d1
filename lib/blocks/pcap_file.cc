/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pcap_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gr::hf {

pcap_file::pcap_file(const std::string& path, kind k)
{
    if (path.empty())
        return;
    d_file.open(path, std::ios::binary | std::ios::trunc);
    if (!d_file)
        throw std::invalid_argument("capture file '" + path +
                                    "' cannot be made: " + std::strerror(errno));
    put(k == kind::d_pdu ? d_d_pdus.header() : d_primitives.header());
}

void pcap_file::write(const s5066::tap_record& r)
{
    if (wanted())
        put(d_d_pdus.d_pdu(r.time, r.octets));
}

void pcap_file::write(sim_time now,
                      uint64_t client,
                      bool to_client,
                      const std::vector<uint8_t>& primitive)
{
    if (wanted())
        put(d_primitives.primitive(now, client, !to_client, primitive));
}

void pcap_file::put(const std::vector<uint8_t>& octets)
{
    d_file.write(reinterpret_cast<const char*>(octets.data()),
                 static_cast<std::streamsize>(octets.size()));
    // Somebody may look while the station runs.
    d_file.flush();
}

} // namespace gr::hf
