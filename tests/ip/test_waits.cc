/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Each wait of the IP client ends by itself. The table is in docs/reliability.md.
#include "ip/client.h"
#include "ip/packets.h"
#include "slep/fake_sis.h"
#include "slep/sis_client.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using s5066::address;
using namespace std::chrono_literals;

//! A client whose node does only what the test says.
struct client_alone {
    client_alone() : ip(config()) { drain(); }
    static ip::client_config config()
    {
        ip::client_config c;
        c.table = { { ip::prefix("10.66.0.2/32"), address("1.0.0.2") } };
        return c;
    }
    void in(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        ip.sis_in(now, v.data(), v.size());
        drain();
    }
    void packet(uint8_t protocol = ip::proto_udp)
    {
        made m;
        m.ports(1000, 2000, octets(100, 1));
        if (protocol == ip::proto_icmp)
            m.echo(8, 1, 1); // a ping
        m.protocol = protocol;
        const auto v = m.packet();
        ip.on_packet(now, v.data(), v.size());
        drain();
    }
    void drain()
    {
        while (auto v = ip.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            binds += std::holds_alternative<s5066::s_bind_request>(*p);
            requests += std::holds_alternative<s5066::s_unidata_request>(*p);
        }
    }
    std::optional<station_time> leaves(station_time limit,
                                       const std::function<bool()>& over)
    {
        const station_time begin = now;
        for (unsigned idle = 0; !over(); ++idle) {
            const auto t = ip.next_deadline();
            if (!t || *t > begin + limit || idle > 10'000)
                return std::nullopt;
            now = std::max(now, *t);
            ip.on_deadline(now);
            drain();
        }
        return now - begin;
    }

    station_time now{};
    ip::client ip;
    unsigned binds = 0, requests = 0;
};

struct wait_row {
    const char* name;
    const char* limit_name;
    station_time limit;
    std::function<void(client_alone&)> enter;
    std::function<bool(const client_alone&)> over;
};

TEST(ip_waits, each_ends_within_its_limit)
{
    const auto c = client_alone::config();
    const auto sis = s5066::sis_client::config::confirmed(c.sap, c.rank);
    const auto empty = [](const client_alone& x) {
        return x.ip.waiting(address("1.0.0.2")) == 0;
    };
    const auto stopped = [](client_alone& x) {
        x.in(s5066::s_bind_accepted{ 9, 2048 });
        x.in(s5066::s_data_flow_off{});
    };
    const std::vector<wait_row> rows = {
        { "answer to a bind",
          "bind_wait",
          sis.bind_wait,
          [](client_alone&) {},
          [](const client_alone& x) { return x.binds > 1; } },
        { "pause after a refused bind",
          "rebind_wait",
          sis.rebind_wait,
          [](client_alone& x) { x.in(s5066::s_bind_rejected{}); },
          [](const client_alone& x) { return x.binds > 1; } },
        { "packet, the node does not answer the bind",
          "age_max",
          c.queue.age_max,
          [](client_alone& x) { x.packet(); },
          empty },
        { "packet, the node has stopped its clients",
          "age_max",
          c.queue.age_max,
          [&](client_alone& x) {
              stopped(x);
              x.packet();
          },
          empty },
        { "interactive packet, the node has stopped its clients",
          "interactive_age_max",
          c.interactive_age_max,
          [&](client_alone& x) {
              stopped(x);
              x.packet(ip::proto_icmp);
          },
          empty },
        { "confirm or reject of a U_PDU",
          "confirm_wait",
          30min,
          [](client_alone& x) {
              x.in(s5066::s_bind_accepted{ 9, 2048 });
              x.packet();
          },
          [](const client_alone& x) { return !x.ip.next_deadline().has_value(); } },
    };
    for (const wait_row& r : rows) {
        client_alone x;
        r.enter(x);
        ASSERT_FALSE(r.over(x)) << r.name << ": it does not wait";
        const auto took = x.leaves(r.limit, [&] { return r.over(x); });
        EXPECT_TRUE(took) << r.name << ": no end within " << to_seconds(r.limit) << " s";
        std::printf("| IP client: %s | `%s` | %.0f s | %.0f s |\n",
                    r.name,
                    r.limit_name,
                    to_seconds(r.limit),
                    took ? to_seconds(*took) : -1);
    }
}

} // namespace
} // namespace gr::hf::test
