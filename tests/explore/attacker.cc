/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/attacker.h"

#include "explore/flow.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/s_pdu.h"
#include "sim/stations/traffic.h"

#include <algorithm>

namespace gr::hf::explore {

using namespace s5066;

namespace {

constexpr uint8_t longest_eot = 255;    // 127.5 s
constexpr uint8_t not_connected = 1;    // WARNING, C.3.12
constexpr uint16_t rate_change = 0x100; // EOW type 1: data rate change, to 75 bit/s

d_pdu control(c_pdu_type type, uint8_t low)
{
    d_pdu d;
    d.type = d_pdu_type::expedited_non_arq_data;
    d.segment = encode(c_pdu{ type, low, {} });
    d.non_arq.c_pdu_size = static_cast<uint16_t>(d.segment.size());
    return d;
}

d_pdu data_d_pdu(std::vector<uint8_t> u_pdu,
                 uint8_t src_sap,
                 uint8_t dst_sap,
                 uint16_t next)
{
    d_pdu d;
    d.type = d_pdu_type::data_only;
    d.arq.start = d.arq.end = true;
    d.arq.fsn = next;
    s_pdu s;
    s.src_sap = src_sap;
    s.dst_sap = dst_sap;
    s.u_pdu = std::move(u_pdu);
    d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    return d;
}

d_pdu forged(forgery f, uint16_t next, uint8_t dst_sap)
{
    d_pdu d;
    switch (f) {
    case forgery::end_of_transmission:
        d.type = d_pdu_type::ack_only;
        d.eot = longest_eot;
        return d;
    case forgery::acknowledgement:
        d.type = d_pdu_type::ack_only;
        d.ack.rx_lwe = next;
        return d;
    case forgery::reset:
        d.type = d_pdu_type::reset;
        d.reset.full = d.reset.tx_rqst = d.reset.rx_cmnd = true;
        return d;
    case forgery::link_break:
        return control(c_pdu_type::link_break, 0);
    case forgery::link_rejected:
        return control(c_pdu_type::link_rejected, 0);
    case forgery::no_link:
        d.type = d_pdu_type::warning;
        d.warning.reason = not_connected;
        return d;
    case forgery::rate_change:
        d.type = d_pdu_type::management;
        d.management.valid = true;
        d.eow = rate_change;
        return d;
    case forgery::data:
        break;
    }
    return data_d_pdu(
        sim::bulk_source::u_pdu(forged_u_pdu, 100), first_sap, dst_sap, next);
}

// A D_PDU once, and with numbers of 16 bits again.
std::vector<uint8_t> in_both_windows(d_pdu d, address from, address to)
{
    d.src = from;
    d.dst = to;
    auto all = encode(d);
    const bool numbered =
        has_ack(d.type) || d.type == d_pdu_type::data_only || d.type == d_pdu_type::reset;
    if (numbered) {
        d.type = large_type(d.type);
        d.large = true;
        const auto again = encode(d);
        all.insert(all.end(), again.begin(), again.end());
    }
    return all;
}

} // namespace

const char* to_string(forgery f)
{
    constexpr const char* names[forgeries] = {
        "EOT of 127.5 s", "acknowledgement of everything",
        "full reset",     "link break",
        "link rejected",  "WARNING: no link",
        "rate change",    "data"
    };
    return names[static_cast<unsigned>(f)];
}

std::vector<uint8_t>
forged_octets(forgery f, address from, address to, uint16_t next, uint8_t dst_sap)
{
    return in_both_windows(forged(f, next, dst_sap), from, to);
}

attacker::attacker(sim::scheduler& time, sim::emulated_air& air)
    : d_modem(time, air, *this, sim::modem_config(), [this] {
          return d_sent < d_octets.size() ? std::optional(d_modem.clock()) : std::nullopt;
      })
{
}

void attacker::send(forgery f, address from, address to, uint16_t next, const mode& m)
{
    d_mode = m;
    d_sent = 0;
    d_octets = forged_octets(f, from, to, next, first_sap + 1);
    d_modem.poke();
}

std::optional<mode> attacker::want_tx(station_time)
{
    return d_sent < d_octets.size() ? std::optional<mode>(d_mode) : std::nullopt;
}

tx_octets attacker::pull(station_time, station_time, size_t max_octets)
{
    tx_octets o;
    const size_t n = std::min(max_octets, d_octets.size() - d_sent);
    const auto at = d_octets.begin() + static_cast<std::ptrdiff_t>(d_sent);
    o.octets.assign(at, at + static_cast<std::ptrdiff_t>(n));
    d_sent += n;
    o.last = d_sent == d_octets.size();
    return o;
}

} // namespace gr::hf::explore
