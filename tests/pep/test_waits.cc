/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Each wait of a connection ends by itself, whatever its application, its node and its
// peer fail to do. The table is in docs/reliability.md.
#include "pep/rules.h"
#include "sim/stations/tcp_host.h"
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::proxy_config;
using hfpep::status;

const address far_node("1.0.0.2");

//! A proxy whose node confirms or rejects everything. Its peer is silent.
struct lone_proxy {
    enum class fate { none, confirmed, rejected };
    explicit lone_proxy(const proxy_config& c) : host(c) { drain(); }

    void in(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        host.sis_in(now, v.data(), v.size());
        drain();
    }
    void from_peer(slep::pdu_body body)
    {
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = 13;
        u.mode = s5066::transmission_mode::arq;
        u.src = far_node;
        u.dst = address("1.0.0.1");
        u.u_pdu = slep::encode({ 0, std::move(body) });
        in(u);
    }
    void bind() { in(s5066::s_bind_accepted{ 13, 2048 }); }
    void drain()
    {
        for (bool again = true; again;) {
            again = false;
            host.work(now);
            while (auto v = host.poll_sis()) {
                again = true;
                const auto p = s5066::decode_primitive(*v);
                const auto* u = std::get_if<s5066::s_unidata_request>(&*p);
                if (u == nullptr)
                    continue;
                sent.push_back(u->u_pdu);
                if (what == fate::none)
                    continue;
                const s5066::s_primitive a =
                    what == fate::confirmed
                        ? s5066::s_primitive(s5066::s_unidata_request_confirm{
                              false, u->dst_sap, u->dst, u->u_pdu })
                        : s5066::s_primitive(s5066::s_unidata_request_rejected{
                              false, 3, u->dst_sap, u->dst, u->u_pdu });
                const auto w = s5066::encode(a);
                host.sis_in(now, w.data(), w.size());
            }
        }
    }
    void connect(uint16_t port)
    {
        last = host.accept(now, "10.1.2.3", port);
        drain();
    }
    //! The far station has been heard and has accepted the connection.
    void accepted()
    {
        bind();
        what = fate::confirmed;
        connect(22);
        ASSERT_TRUE(leaves(1s, [this] { return !sent.empty(); }));
        const auto so = slep::decode(sent.back());
        const auto& o = std::get<slep::stream_open>(so->body);
        slep::stream_accept a;
        a.sid = o.number | slep::sid_responder;
        a.instance = 7;
        a.answers = slep::incarnation::of_opener(o.instance, o.number, o.use).name();
        a.open_data = hfpep::encode(hfpep::connect_answer());
        from_peer(a);
        ASSERT_TRUE(host.sockets.at(last).connected);
    }
    void requested()
    {
        bind();
        what = fate::confirmed;
        host.on_connect = [](const auto&) { return std::nullopt; };
        slep::stream_open o;
        o.number = 5;
        o.instance = 7;
        hfpep::connect_request q;
        q.to = { ip::address("10.1.2.3"), 22 };
        o.open_data = hfpep::encode(q);
        from_peer(o);
    }
    bool over() const { return host.pep.connections().empty(); }
    std::optional<station_time> leaves(station_time limit,
                                       const std::function<bool()>& done)
    {
        const station_time begin = now;
        for (unsigned idle = 0; !done(); ++idle) {
            const auto t = host.next_deadline();
            if (!t || *t > begin + limit || idle > 100'000)
                return std::nullopt;
            now = std::max(now, *t);
            host.on_deadline(now);
            drain();
        }
        return now - begin;
    }

    station_time now{};
    sim::tcp_host host;
    fate what = fate::none;
    std::vector<octets> sent;
    hfpep::connection_id last = 0;
};

proxy_config with_rules(const char* words = "")
{
    proxy_config c;
    c.slep.instance = 3;
    c.routes = { { ip::prefix("0.0.0.0/0"), "", far_node, 13 } };
    c.allow = { hfpep::reach::parse("*:*") };
    c.rules = hfpep::rules_from({ words }, true);
    return c;
}

struct wait_row {
    const char* name;
    const char* limit_name;
    station_time limit;
    proxy_config config;
    std::function<void(lone_proxy&)> enter;
    std::function<bool(const lone_proxy&)> over;
};

bool none_left(const lone_proxy& x) { return x.over(); }

std::vector<wait_row> rows()
{
    using fate = lone_proxy::fate;
    const proxy_config usual = with_rules("port=22");
    const station_time outage = usual.rules[0].outage_max;
    const station_time probed =
        std::min(outage / 2, station_time(15min)) * 5 / 4 + outage;
    return {
        { "hold: first data of the application",
          "hold_max",
          usual.hold_max,
          usual,
          [](lone_proxy& x) {
              x.bind();
              x.connect(22);
          },
          [](const lone_proxy& x) { return !x.sent.empty(); } },
        { "waiting: room in the rule",
          "outage_max",
          outage,
          with_rules("port=22 max=1 over=wait"),
          [](lone_proxy& x) {
              x.accepted();
              x.connect(22);
              ASSERT_STREQ(x.host.pep.connections().at(1).state, "waiting");
          },
          [](const lone_proxy& x) {
              const auto& s = x.host.sockets.at(x.last);
              return s.reset && s.why == status::timed_out;
          } },
        { "greeting: TLS of the application",
          "connect_limit and 5 s",
          usual.connect_limit + 5s,
          with_rules("tls=apart"),
          [](lone_proxy& x) {
              x.bind();
              x.connect(443);
          },
          none_left },
        { "opening: a far node that was never heard, until its first reject",
          "hold_max",
          usual.hold_max,
          usual,
          [](lone_proxy& x) {
              x.bind();
              x.what = fate::rejected;
              x.connect(22);
          },
          none_left },
        { "opening: the node does not answer the bind",
          "outage_max",
          outage + usual.hold_max,
          usual,
          [](lone_proxy& x) { x.connect(22); },
          none_left },
        { "opening: the far node confirms, its proxy is silent",
          "open_wait",
          usual.slep.open_wait + usual.hold_max,
          usual,
          [](lone_proxy& x) {
              x.bind();
              x.what = fate::confirmed;
              x.connect(22);
          },
          none_left },
        { "connecting: the server here",
          "connect_limit and 5 s",
          usual.connect_limit + 5s,
          usual,
          [](lone_proxy& x) { x.requested(); },
          none_left },
        { "open: the far node confirms, its proxy is silent",
          "outage_max",
          probed,
          usual,
          [](lone_proxy& x) { x.accepted(); },
          none_left },
        { "half closed here: the end of the far application",
          "outage_max",
          probed,
          usual,
          [](lone_proxy& x) {
              x.accepted();
              x.host.sockets.at(x.last).then_eof = true;
              x.drain();
              ASSERT_STREQ(x.host.pep.connections().at(0).state, "half closed here");
          },
          none_left },
        { "open: every U_PDU is rejected",
          "outage_max",
          outage + 60s,
          usual,
          [](lone_proxy& x) {
              x.accepted();
              x.what = fate::rejected;
              x.host.sockets.at(x.last).to_send = octets(100, 1);
              x.drain();
          },
          none_left },
        { "cut: data of a program that ended without TLS saying so",
          "outage_max",
          outage + 60s,
          usual,
          [](lone_proxy& x) {
              x.accepted();
              x.what = fate::rejected;
              x.host.sockets.at(x.last).to_send = octets(100, 1);
              x.drain();
              x.host.pep.on_tcp_cut(x.now, x.last);
              x.drain();
          },
          none_left },
        { "idle connection of a rule with idle_s",
          "idle_s",
          100s,
          with_rules("port=22 idle_s=100"),
          [](lone_proxy& x) { x.accepted(); },
          none_left },
    };
}

TEST(hfpep_waits, each_ends_within_its_limit)
{
    for (const wait_row& r : rows()) {
        lone_proxy x(r.config);
        r.enter(x);
        EXPECT_FALSE(r.over(x)) << r.name << ": it does not wait";
        const auto took = x.leaves(r.limit, [&] { return r.over(x); });
        EXPECT_TRUE(took) << r.name << ": no end within " << to_seconds(r.limit) << " s";
        std::printf("| HF-PEP: %s | `%s` | %.0f s | %.0f s |\n",
                    r.name,
                    r.limit_name,
                    to_seconds(r.limit),
                    took ? to_seconds(*took) : -1);
    }
}

} // namespace
} // namespace gr::hf::test
