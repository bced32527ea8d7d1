/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <hf/station_time.h>

#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace gr::hf::s5066 {

//! A C_PDU received without ARQ.
struct non_arq_c_pdu {
    address src;
    address dst;
    bool expedited = false;      //!< received in type 8 D_PDUs
    std::vector<uint8_t> octets; //!< missing parts are zero
    //! (offset, length) of damaged and missing parts.
    std::vector<std::pair<uint16_t, uint16_t>> errored;
    std::vector<std::pair<uint16_t, uint16_t>> missing;
    bool clean() const { return errored.empty() && missing.empty(); }
};

/*! \brief Reassembles segments of types 7 and 8 (C.3.2.10) by source, identification and
 *         offset. Ignores repeats, so the last 2048 delivered C_PDUs, half of the numbers,
 *         are remembered until their reception window ends.
 */
class non_arq_receiver
{
public:
    //! Takes one D_PDU of type 7 or 8; appends C_PDUs that are complete and clean.
    void take(station_time now, const d_pdu& d, std::vector<non_arq_c_pdu>& complete);
    /*! \brief Appends C_PDUs whose reception window ended incomplete, or that waited for
     *         earlier ones.
     */
    void expire(station_time now, std::vector<non_arq_c_pdu>& ended);
    bool empty() const { return d_entries.empty() && d_delivered.empty(); }

private:
    using key = std::tuple<uint32_t, uint32_t, bool, uint16_t>; // src, dst, expedited, id
    struct segment {
        std::vector<uint8_t> octets;
        bool ok = false;
    };
    struct entry {
        station_time deadline{};
        uint16_t size = 0;
        bool in_order = false;
        std::map<uint16_t, segment> segments; // by offset
        size_t octets = 0;
    };
    static constexpr size_t max_entries = 256;
    static constexpr size_t max_octets = 4 << 20;
    static constexpr size_t max_delivered = 2048;

    void evict(); // drops the entry with the earliest deadline
    static bool complete(const entry& e);
    bool must_wait(const key& k, const entry& e) const;
    void deliver_ready(std::vector<non_arq_c_pdu>& out);
    static non_arq_c_pdu assemble(const key& k, const entry& e);
    using place = std::map<key, entry>::iterator;
    place deliver(place at, std::vector<non_arq_c_pdu>& out);

    std::map<key, entry> d_entries;
    size_t d_octets = 0;
    std::deque<std::pair<key, station_time>> d_delivered; // until when; the oldest first
};

} // namespace gr::hf::s5066
