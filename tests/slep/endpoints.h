/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/slep_user.h"

#include <memory>

namespace gr::hf::test {

using namespace std::chrono_literals;
using s5066::address;

inline slep::endpoint_config with_instance(uint16_t n)
{
    slep::endpoint_config c;
    c.instance = n;
    return c;
}

//! A client that can be replaced by a new one: a program that restarts.
struct restartable {
    explicit restartable(const slep::endpoint_config& c)
        : user(std::make_unique<slep_user>(c))
    {
    }
    std::unique_ptr<slep_user> user;
    void sis_in(station_time t, const uint8_t* p, size_t n)
    {
        user->link.sis_in(t, p, n);
    }
    std::optional<octets> poll_sis() { return user->link.poll_sis(); }
    std::optional<station_time> next_deadline() { return user->link.next_deadline(); }
    void on_deadline(station_time t) { user->link.on_deadline(t); }
};

//! Two users with a subnet between them.
struct pair_of {
    explicit pair_of(slep::endpoint_config ca = with_instance(1),
                     slep::endpoint_config cb = with_instance(2),
                     uint32_t seed = 1)
        : net(seed), ra(ca), rb(cb)
    {
        net.attach(address("1.0.0.1"), ra, [this](station_time t) { ra.user->work(t); });
        net.attach(address("1.0.0.2"), rb, [this](station_time t) { rb.user->work(t); });
        net.settle();
    }
    slep_user& a() { return *ra.user; }
    slep_user& b() { return *rb.user; }
    static slep::user_address to_b(uint8_t extended = 0)
    {
        return { address("1.0.0.2"), 13, extended };
    }
    fake_subnet net;
    restartable ra, rb;
};

//! One U_PDU from node 1.0.0.1 as the node would deliver it.
inline octets from_a(const slep::pdu& p)
{
    s5066::s_unidata_indication u;
    u.dst_sap = u.src_sap = 13;
    u.src = address("1.0.0.1");
    u.dst = address("1.0.0.2");
    u.u_pdu = slep::encode(p);
    return s5066::encode(u);
}

//! Data of stream 5 from 1.0.0.1, and its open.
inline slep::pdu sd(uint16_t seq, octets data, bool fin = false)
{
    return { 0, slep::stream_data{ 5, seq, false, fin, std::move(data) } };
}

inline slep::pdu so(octets data = {})
{
    slep::stream_open o;
    o.number = 5;
    o.data = std::move(data);
    return { 0, o };
}

//! One endpoint by itself; the test plays its node and the others.
struct lone {
    lone() : link(with_instance(3))
    {
        link.listen(0);
        drain();
        in(s5066::encode(s5066::s_bind_accepted{ 13, 2048 }));
    }
    void in(const octets& v) { link.sis_in(now, v.data(), v.size()); }
    std::vector<octets> drain()
    {
        std::vector<octets> out;
        while (auto v = link.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            if (const auto* u = std::get_if<s5066::s_unidata_request>(&*p)) {
                out.push_back(u->u_pdu);
                in(s5066::encode(s5066::s_unidata_request_confirm{
                    false, u->dst_sap, u->dst, u->u_pdu }));
            }
        }
        return out;
    }
    std::vector<slep::event> events()
    {
        std::vector<slep::event> all;
        while (auto e = link.poll_event())
            all.push_back(*e);
        return all;
    }
    station_time now{};
    slep::endpoint link;
};

} // namespace gr::hf::test
