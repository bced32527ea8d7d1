/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/pcap_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gr::hf {

pcap_file::pcap_file(const std::string& path, kind k) : d_path(path)
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

void pcap_file::write(station_time now,
                      uint64_t client,
                      bool to_client,
                      const std::vector<uint8_t>& primitive)
{
    if (wanted())
        put(d_primitives.primitive(now, client, !to_client, primitive));
}

void pcap_file::put(const std::vector<uint8_t>& octets)
{
    errno = 0;
    d_file.write(reinterpret_cast<const char*>(octets.data()),
                 static_cast<std::streamsize>(octets.size()));
    // The file may be read while the station runs.
    d_file.flush();
    if (d_file)
        return;
    d_failure = "capture file '" + d_path + "' ends here: " +
                (errno != 0 ? std::strerror(errno) : "it cannot be written");
    d_file.close();
}

std::string pcap_file::poll_failure() { return std::exchange(d_failure, {}); }

} // namespace gr::hf
