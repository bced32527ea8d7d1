/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Each wait of an endpoint ends by itself, whatever its node, its user and its peers fail
// to do. The table is in docs/reliability.md.
#include "slep/endpoints.h"
#include "slep/sis_queue.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using slep::stream_id;

//! An endpoint whose node does what the test says. Its peers are silent.
struct alone {
    enum class fate { none, confirmed, rejected };

    alone() : link(with_instance(3)) { link.listen(0); }
    void in(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        link.sis_in(now, v.data(), v.size());
        drain();
    }
    void from_peer(slep::pdu_body body)
    {
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = 13;
        u.mode = s5066::transmission_mode::arq;
        u.src = address("1.0.0.2");
        u.dst = address("1.0.0.1");
        u.u_pdu = slep::encode({ 0, std::move(body) });
        in(u);
    }
    void bind() { in(s5066::s_bind_accepted{ 13, 2048 }); }
    void drain()
    {
        while (auto e = link.poll_event())
            events.push_back(*e);
        while (auto v = link.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            binds += std::holds_alternative<s5066::s_bind_request>(*p);
            const auto* u = std::get_if<s5066::s_unidata_request>(&*p);
            if (u == nullptr)
                continue;
            sent.push_back(u->u_pdu);
            if (what == fate::confirmed)
                in(s5066::s_unidata_request_confirm{
                    false, u->dst_sap, u->dst, u->u_pdu });
            if (what == fate::rejected)
                in(s5066::s_unidata_request_rejected{
                    false, 3, u->dst_sap, u->dst, u->u_pdu });
        }
        while (auto e = link.poll_event())
            events.push_back(*e);
    }
    stream_id open()
    {
        const auto s = link.open(now, pair_of::to_b(), { 1 });
        drain();
        return s.value();
    }
    //! A stream that the peer has accepted.
    stream_id accepted()
    {
        bind();
        what = fate::confirmed;
        const stream_id s = open();
        const auto so = slep::decode(sent.back());
        const auto& o = std::get<slep::stream_open>(so->body);
        const auto out = slep::incarnation::of_opener(o.instance, o.number, o.use);
        slep::stream_accept a;
        a.sid = o.number | slep::sid_responder;
        a.instance = 7;
        a.answers = out.name();
        peer = slep::incarnation::of_responder(7, out);
        number = o.number;
        own = out;
        from_peer(a);
        return s;
    }
    //! A stream that the peer has opened.
    void offered()
    {
        bind();
        what = fate::confirmed;
        slep::stream_open o;
        o.number = 5;
        o.instance = 7;
        peer = slep::incarnation::of_opener(7, 5, 0);
        from_peer(o);
    }
    /*! \brief Lets time pass from deadline to deadline until \p over. \return the time
     *         that took. Empty: \p limit is over before, or there is no deadline.
     */
    std::optional<station_time> leaves(station_time limit,
                                       const std::function<bool()>& over)
    {
        const station_time begin = now;
        for (unsigned idle = 0; !over(); ++idle) {
            const auto t = link.next_deadline();
            if (!t || *t > begin + limit || idle > 100'000)
                return std::nullopt;
            now = std::max(now, *t);
            link.on_deadline(now);
            drain();
        }
        return now - begin;
    }

    station_time now{};
    slep::endpoint link;
    fate what = fate::none;
    std::vector<slep::event> events;
    std::vector<octets> sent;
    unsigned binds = 0;
    slep::incarnation peer, own;
    uint8_t number = 0;
};

//! One wait: how to get into it, when it is over, and the setting that limits it.
struct wait_row {
    const char* name;
    const char* limit_name;
    station_time limit;
    std::function<void(alone&)> enter;
    std::function<bool(const alone&)> over;
};

const slep::endpoint_config settings = with_instance(3);
const s5066::sis_client::config sis =
    s5066::sis_client::config::confirmed(settings.sap, settings.rank);

bool no_stream(const alone& x) { return x.link.streams() == 0; }
bool datagram_over(const alone& x)
{
    return std::any_of(x.events.begin(), x.events.end(), [](const auto& e) {
        return e.what == slep::event::type::datagram_done;
    });
}

std::vector<wait_row> rows()
{
    using fate = alone::fate;
    // A probe is due after half of the outage or 15 min, for the side that did not open a
    // quarter later, and its answer after the outage.
    const station_time probed =
        std::min(settings.outage_max / 2, station_time(15min)) * 5 / 4;
    return {
        { "answer to a bind",
          "bind_wait",
          sis.bind_wait,
          [](alone& x) { x.drain(); },
          [](const alone& x) { return x.binds > 1; } },
        { "pause after a refused bind",
          "rebind_wait",
          sis.rebind_wait,
          [](alone& x) {
              x.drain();
              x.in(s5066::s_bind_rejected{});
          },
          [](const alone& x) { return x.binds > 1; } },
        { "stream, the node does not answer the bind",
          "outage_max",
          settings.outage_max,
          [](alone& x) { x.open(); },
          no_stream },
        { "stream, the node has stopped its clients",
          "outage_max",
          settings.outage_max,
          [](alone& x) {
              x.bind();
              x.in(s5066::s_data_flow_off{});
              x.open();
          },
          no_stream },
        { "confirm or reject of a U_PDU",
          "confirm_wait",
          slep::confirm_wait,
          [](alone& x) {
              x.bind();
              x.open();
          },
          [](const alone& x) { return x.link.stats().pdus_rejected > 0; } },
        { "stream, the node settles nothing",
          "confirm_wait, outage_max",
          slep::confirm_wait + settings.outage_max,
          [](alone& x) {
              x.bind();
              x.open();
          },
          no_stream },
        { "stream, the node rejects everything",
          "outage_max",
          settings.outage_max,
          [](alone& x) {
              x.bind();
              x.what = fate::rejected;
              x.open();
          },
          no_stream },
        { "answer of the peer to an open",
          "open_wait",
          settings.open_wait,
          [](alone& x) {
              x.bind();
              x.what = fate::confirmed;
              x.open();
          },
          no_stream },
        { "answer of our user to an open",
          "open_wait",
          settings.open_wait,
          [](alone& x) { x.offered(); },
          no_stream },
        { "open stream, the far node confirms and the peer is silent",
          "outage_max",
          probed + settings.outage_max,
          [](alone& x) { x.accepted(); },
          no_stream },
        { "the same of the side that did not open it",
          "outage_max",
          settings.accept_hold + probed + settings.outage_max,
          [](alone& x) {
              x.offered();
              x.link.accept(x.now, x.events.front().stream, {});
              x.drain();
          },
          no_stream },
        { "end of the peer's direction",
          "outage_max",
          probed + settings.outage_max,
          [](alone& x) {
              const auto s = x.accepted();
              x.link.finish(x.now, s);
              x.drain();
          },
          no_stream },
        { "window of the peer",
          "outage_max",
          probed + settings.outage_max,
          [](alone& x) {
              const auto s = x.accepted();
              slep::stream_control c;
              c.sid = x.number | slep::sid_responder;
              c.ack = static_cast<uint16_t>(x.own.base + 1);
              c.window = slep::window_closed;
              x.from_peer(c);
              const octets v(100, 1);
              x.link.write(x.now, s, v.data(), v.size());
              x.drain();
          },
          no_stream },
        { "missing PDU",
          "gap_max, outage_max",
          settings.gap_max + probed + settings.outage_max,
          [](alone& x) {
              x.accepted();
              slep::stream_data d;
              d.sid = x.number | slep::sid_responder;
              d.seq = static_cast<uint16_t>(x.peer.base + 2);
              d.check = x.peer.check;
              d.data = { 1 };
              x.from_peer(d);
          },
          no_stream },
        { "data before their open",
          "orphan_wait, 2 min",
          2min,
          [](alone& x) {
              x.bind();
              x.what = fate::confirmed;
              x.from_peer(slep::stream_data{ 9, 1, false, false, { 1 } });
              x.sent.clear();
          },
          [](const alone& x) { return !x.sent.empty(); } },
        { "more data for a PDU",
          "partial_hold",
          settings.partial_hold,
          [](alone& x) {
              const auto s = x.accepted();
              x.sent.clear();
              const octets v(10, 1);
              x.link.write(x.now, s, v.data(), v.size(), false);
              x.drain();
          },
          [](const alone& x) { return !x.sent.empty(); } },
        { "first data to go with an acceptance",
          "accept_hold",
          settings.accept_hold,
          [](alone& x) {
              x.offered();
              x.now += 1s;
              x.sent.clear();
              x.link.accept(x.now, x.events.front().stream, {});
              x.drain();
          },
          [](const alone& x) { return !x.sent.empty(); } },
        { "reliable datagram, the node has stopped its clients",
          "reliable_ttl",
          settings.reliable_ttl,
          [](alone& x) {
              x.bind();
              x.in(s5066::s_data_flow_off{});
              x.link.send_reliable(x.now, pair_of::to_b(), { 1 });
          },
          datagram_over },
        { "confirmed datagram, the node settles nothing",
          "confirm_wait",
          slep::confirm_wait,
          [](alone& x) {
              x.bind();
              x.link.send_confirmed(x.now, pair_of::to_b(), { 1 }, 0, 120s);
              x.drain();
          },
          datagram_over },
        { "unreliable datagram, the node has stopped its clients",
          "unreliable_ttl",
          settings.unreliable_ttl,
          [](alone& x) {
              x.bind();
              x.in(s5066::s_data_flow_off{});
              x.link.send_unreliable(x.now, pair_of::to_b(), { 1 });
          },
          [](const alone& x) { return x.link.stats().datagrams_dropped > 0; } },
        { "rest of a datagram",
          "reliable_ttl",
          settings.reliable_ttl,
          [](alone& x) {
              x.bind();
              slep::reliable_datagram d;
              d.seg = slep::reliable_datagram::segment{ 0, false };
              d.data = { 1 };
              x.from_peer(d);
          },
          [](const alone& x) { return x.link.stats().datagrams_dropped > 0; } },
    };
}

} // namespace

TEST(slep_waits, each_ends_within_its_limit)
{
    for (const wait_row& r : rows()) {
        alone x;
        r.enter(x);
        ASSERT_FALSE(r.over(x)) << r.name << ": it does not wait";
        const auto took = x.leaves(r.limit, [&] { return r.over(x); });
        EXPECT_TRUE(took) << r.name << ": no end within " << to_seconds(r.limit) << " s";
        std::printf("| SLEP: %s | `%s` | %.0f s | %.0f s |\n",
                    r.name,
                    r.limit_name,
                    to_seconds(r.limit),
                    took ? to_seconds(*took) : -1);
    }
}

} // namespace gr::hf::test
