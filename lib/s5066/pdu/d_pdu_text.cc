/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// D_PDUs as text for logs.
#include "s5066/pdu/d_pdu.h"

#include "s5066/pdu/eow.h"

#include <string>

namespace gr::hf::s5066 {

using t = d_pdu_type;

std::string describe(const d_pdu& d)
{
    std::string s = to_string(d.type);
    const auto kind = d.large ? small_type(d.type) : d.type;
    if (kind == t::data_only || kind == t::data_ack) {
        s += " fsn " + std::to_string(d.arq.fsn);
        s += d.arq.start ? " START" : "";
        s += d.arq.end ? " END" : "";
        s += d.arq.drop ? " DROP" : "";
    }
    if (d.type == t::expedited_data_only) {
        s += " id " + std::to_string(d.expedited.c_pdu_id) + " fsn " +
             std::to_string(d.expedited.fsn);
    }
    if (kind == t::ack_only || kind == t::data_ack || d.type == t::expedited_ack_only) {
        s += " rx_lwe " + std::to_string(d.ack.rx_lwe);
        s += d.ack.from > 0 ? " from " + std::to_string(d.ack.from) : "";
        s += d.ack.selective.empty()
                 ? ""
                 : " + " + std::to_string(8 * d.ack.selective.size()) + " bits";
    }
    if (has_segment(d.type) && (d.large || !is_large(d.type))) {
        s += " " + std::to_string(d.segment.size()) + " octets";
        s += d.segment_ok ? "" : " BAD CRC";
    }
    if (d.type == t::management) {
        s += " id " + std::to_string(d.management.frame_id);
        s += d.management.ack ? " ACK" : "";
        s += d.management.valid ? " EOW " + std::to_string(eow_kind(d.eow)) +
                                      " contents " + std::to_string(d.eow & 0xff)
                                : "";
    }
    if (d.type == t::warning) {
        s += " type " + std::to_string(d.warning.received_type) + " reason " +
             std::to_string(d.warning.reason);
    }
    return s + " eot " + std::to_string(d.eot / 2) + (d.eot & 1 ? ".5" : ".0");
}

} // namespace gr::hf::s5066
