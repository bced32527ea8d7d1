/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/proxy_link.h"

#include "s5066/words/max_eot.h"
#include "sim/air/lock_step_pair.h"

#include <algorithm>

namespace gr::hf::sim {
namespace {

s5066::address node_address(int n)
{
    return s5066::address("1." + std::to_string(n) + ".0.0");
}

} // namespace

size_t depth_for(double rate)
{
    return static_cast<size_t>(1.1 * s5066::max_eot_s * rate / 8);
}

s5066::node_config
proxy_link::node_of(int n, const std::string& mode_text, uint64_t seed, const changes& c)
{
    s5066::node_config o;
    o.own = node_address(n);
    o.mode = mode_text;
    o.seed = 100 * seed + static_cast<uint64_t>(n);
    if (c.node)
        c.node(o);
    return o;
}

hfpep::proxy_config proxy_link::pep_of(int n,
                                       uint16_t instance,
                                       const std::string& mode_text,
                                       const s5066::node& at,
                                       const changes& c)
{
    hfpep::proxy_config o;
    const s5066::address other = node_address(3 - n);
    o.routes = { { ip::prefix("0.0.0.0/0"), "", other, 13 },
                 { ip::prefix("::/0"), "", other, 13 },
                 { {}, ".", other, 13 } };
    o.slep.queue_octets =
        std::max<size_t>(depth_for(fastest_mode(mode_text).rate_bps), 2048);
    o.allow = { hfpep::reach::parse("*:*") };
    o.slep.instance = instance;
    o.slep.segment_octets = std::min<size_t>(1023, (at.aligned_u_pdu_octets() + 4) / 2);
    if (c.pep)
        c.pep(o);
    return o;
}

} // namespace gr::hf::sim
