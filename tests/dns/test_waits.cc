/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Each wait of the DNS proxy ends by itself. The table is in docs/reliability.md.
#include "dns/forwarder.h"
#include "dns/messages.h"
#include "slep/fake_sis.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace dns;
using namespace std::chrono_literals;

const s5066::address near_node("1.1.0.0"), far_node("1.2.0.0");

//! One half whose node confirms everything, or does nothing. Its peer and its resolver are
//! silent.
struct half {
    half(const forwarder_config& c, bool bound, bool confirm) : dns(c), confirms(confirm)
    {
        drain();
        if (bound)
            in(s5066::s_bind_accepted{ c.slep.sap, 2048 });
    }
    void in(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        dns.sis_in(now, v.data(), v.size());
        drain();
    }
    void drain()
    {
        while (auto v = dns.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            const auto* u = std::get_if<s5066::s_unidata_request>(&*p);
            if (u == nullptr)
                continue;
            ++sent;
            if (confirms)
                in(s5066::s_unidata_request_confirm{
                    false, u->dst_sap, u->dst, u->u_pdu });
        }
        while (auto a = dns.poll_action())
            replies += a->what == action::kind::reply;
    }
    void query()
    {
        const octets v = ask("example.org");
        dns.on_query(now, 1, v.data(), v.size());
        drain();
    }
    void from_peer(const hf_message& m)
    {
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = dns.config().slep.sap;
        u.src = far_node;
        u.u_pdu = encode(m);
        u.u_pdu.insert(u.u_pdu.begin(), 0); // SLEP: a datagram
        in(u);
    }
    std::optional<station_time> leaves(station_time limit,
                                       const std::function<bool()>& over)
    {
        const station_time begin = now;
        for (unsigned idle = 0; !over(); ++idle) {
            const auto t = dns.next_deadline();
            if (!t || *t > begin + limit || idle > 10'000)
                return std::nullopt;
            now = std::max(now, *t);
            dns.on_deadline(now);
            drain();
        }
        return now - begin;
    }

    station_time now{};
    forwarder dns;
    bool confirms;
    unsigned replies = 0, sent = 0;
};

TEST(dns_waits, each_ends_within_its_limit)
{
    forwarder_config near;
    near.routes = { { ".", far_node } };
    forwarder_config far;
    far.serve = true;
    const auto report = [](const char* name,
                           const char* limit_name,
                           station_time limit,
                           std::optional<station_time> took) {
        EXPECT_TRUE(took) << name << ": no end within " << to_seconds(limit) << " s";
        std::printf("| DNS: %s | `%s` | %.0f s | %.0f s |\n",
                    name,
                    limit_name,
                    to_seconds(limit),
                    took ? to_seconds(*took) : -1);
    };
    for (const bool bound : { false, true }) {
        for (const bool confirms : { false, true }) {
            if (!bound && confirms)
                continue;
            half x(near, bound, confirms);
            x.query();
            ASSERT_EQ(x.replies, 0u);
            report(!bound     ? "answer, the node does not answer the bind"
                   : confirms ? "answer of the peer to a confirmed question"
                              : "answer, the node settles nothing",
                   "wait_max",
                   near.wait_max,
                   x.leaves(near.wait_max, [&x] { return x.replies == 1; }));
        }
    }
    {
        half x(near, true, true);
        x.query();
        x.from_peer(hf_answer{});
        ASSERT_EQ(x.replies, 1u);
        x.now += std::chrono::seconds(near.limits.ttl_max_s + 1);
        x.query();
        ASSERT_EQ(x.replies, 1u);
        report("answer while a stale one is in the cache",
               "stale_wait",
               near.stale_wait,
               x.leaves(near.stale_wait, [&x] { return x.replies == 2; }));
    }
    half y(far, true, true);
    y.from_peer(hf_question{ 1, kind::a, type_a, "example.org" });
    ASSERT_EQ(y.sent, 0u) << "the resolver is asked first";
    report("answer of the resolver here",
           "upstream_wait",
           far.upstream_wait,
           y.leaves(far.upstream_wait, [&y] { return y.sent > 0; }));
}

} // namespace
} // namespace gr::hf::test
