/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/rules.h"
#include "sim/stations/tcp_host.h"
#include "slep/slep_user.h"

namespace gr::hf::test {

using s5066::address;

//! A proxy that sends everything to \p node, and lets it reach everything.
inline hfpep::proxy_config to_node(const char* node)
{
    hfpep::proxy_config c;
    c.routes = { { ip::prefix("0.0.0.0/0"), "", address(node), 13 },
                 { ip::prefix(), ".", address(node), 13 } };
    c.allow = { hfpep::reach::parse("*:*") };
    return c;
}

//! Two stations with HF-PEP on one subnetwork, each with applications.
struct two_proxies {
    explicit two_proxies(hfpep::proxy_config ca = to_node("1.0.0.2"),
                         hfpep::proxy_config cb = to_node("1.0.0.1"))
        : a(ca), b(cb)
    {
        net.attach(address("1.0.0.1"), a, a.hook());
        net.attach(address("1.0.0.2"), b, b.hook());
        net.settle();
    }
    sim::tcp_host::socket& server(size_t k = 0) { return b.sockets.at(b.connects.at(k)); }
    fake_subnet net;
    sim::tcp_host a, b;
};

} // namespace gr::hf::test
