/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Types of D_PDUs: their names and contents (C.3).
#include "s5066/pdu/d_pdu.h"

namespace gr::hf::s5066 {

using t = d_pdu_type;

const char* to_string(d_pdu_type type)
{
    static constexpr const char* names[16] = { "DATA-ONLY",
                                               "ACK-ONLY",
                                               "DATA-ACK",
                                               "RESET",
                                               "EXPEDITED-DATA-ONLY",
                                               "EXPEDITED-ACK-ONLY",
                                               "MANAGEMENT",
                                               "NON-ARQ-DATA",
                                               "EXPEDITED-NON-ARQ-DATA",
                                               "LARGE-DATA-ONLY",
                                               "LARGE-ACK-ONLY",
                                               "LARGE-DATA-ACK",
                                               "LARGE-RESET",
                                               "EXTENSION",
                                               "TYPE-14",
                                               "WARNING" };
    return names[static_cast<unsigned>(type) & 0xf];
}

d_pdu_type small_type(d_pdu_type type)
{
    return static_cast<t>(static_cast<unsigned>(type) -
                          static_cast<unsigned>(t::large_data_only));
}

d_pdu_type large_type(d_pdu_type type)
{
    return static_cast<t>(static_cast<unsigned>(type) +
                          static_cast<unsigned>(t::large_data_only));
}

bool has_segment(d_pdu_type type)
{
    switch (type) {
    case t::large_data_only:
    case t::large_data_ack:
    case t::data_only:
    case t::data_ack:
    case t::expedited_data_only:
    case t::non_arq_data:
    case t::expedited_non_arq_data:
        return true;
    default:
        return false;
    }
}

bool has_ack(d_pdu_type type)
{
    switch (type) {
    case t::ack_only:
    case t::data_ack:
    case t::expedited_ack_only:
    case t::large_ack_only:
    case t::large_data_ack:
        return true;
    default:
        return false;
    }
}

} // namespace gr::hf::s5066
