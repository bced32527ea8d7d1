/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Nodes that prove to each other who sent a U_PDU.
#include "scripted_peer.h"
#include "sim/two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;

namespace {

constexpr const char* mode_text = "4539-2400S";

auth_config keys(uint8_t k = 1)
{
    auth_config c;
    c.keys[0].fill(k);
    c.start_minutes = 30000000;
    return c;
}

node_config config_of(int n, const auth_config& auth, const char* m = mode_text)
{
    node_config c = sim::test_config(n, m);
    c.auth = auth;
    return c;
}

//! All D_PDUs of both stations during a transfer.
std::vector<std::vector<uint8_t>> on_the_air(const auth_config& auth)
{
    sim::two_stations net(config_of(1, auth), config_of(2, auth));
    std::vector<std::vector<uint8_t>> all;
    for (sim::station* st : { &net.a, &net.b }) {
        st->node().set_tap(true);
        st->on_tap = [&](const tap_record& r) { all.push_back(r.octets); };
    }
    net.source_a.send(net.b.address(), 20000, 500);
    net.s.run_until([&] { return net.sink_b.octets() >= 20000; }, 600s);
    EXPECT_EQ(net.sink_b.octets(), 20000u);
    return all;
}

//! The peer of the node under test: seals as 1.2.0.0 does.
struct sealing_peer : scripted_peer {
    explicit sealing_peer(const node_config& c = with_keys())
        : scripted_peer(c), seals(address("1.2.0.0"), keys())
    {
        bind(1, 3);
        make_link();
        primitives();
    }
    static node_config with_keys()
    {
        node_config c;
        c.auth = keys();
        c.trace = true;
        return c;
    }
    d_pdu carrier(uint8_t fsn, const std::vector<uint8_t>& u_pdu)
    {
        d_pdu d = data(fsn);
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.u_pdu = u_pdu;
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    }
    std::vector<uint8_t> sealed(std::vector<uint8_t> u_pdu)
    {
        seals.seal(address("1.1.0.0"), 3, 3, u_pdu);
        return u_pdu;
    }
    std::string log()
    {
        std::string all;
        while (const auto l = n.poll_trace()) {
            all += l->text + "\n";
        }
        return all;
    }

    authenticator seals;
};

} // namespace

TEST(auth_node, transfers_data_and_proves_each_u_pdu)
{
    sim::two_stations net(config_of(1, keys()), config_of(2, keys()));
    net.source_a.send(net.b.address(), 100000, 1000);
    net.source_b.send(net.a.address(), 20000, 200);
    net.s.run_until(
        [&] { return net.sink_b.octets() >= 100000 && net.sink_a.octets() >= 20000; },
        2000s);
    EXPECT_EQ(net.sink_b.octets(), 100000u);
    EXPECT_EQ(net.sink_a.octets(), 20000u);
    EXPECT_EQ(net.b.node().stats().u_pdus_proved, 100u);
    EXPECT_EQ(net.b.node().stats().u_pdus_refused, 0u);
    const auto peers = net.b.node().state().auth_peers;
    ASSERT_EQ(peers.size(), 1u);
    EXPECT_EQ(peers[0].peer, net.a.address());
    EXPECT_EQ(peers[0].proved, 100u);
}

TEST(auth_node, with_policy_off_no_octet_on_the_air_differs)
{
    auth_config off = keys();
    off.others = auth_policy::off;
    const auto without = on_the_air(auth_config());
    EXPECT_EQ(on_the_air(off), without);
    EXPECT_NE(on_the_air(keys()), without);
}

TEST(auth_node, a_station_without_the_key_is_not_heard)
{
    for (const auto& other : { auth_config(), keys(2) }) {
        sim::two_stations net(config_of(1, other), config_of(2, keys()));
        net.source_a.send(net.b.address(), 2000, 500);
        net.s.run_until([&] { return net.b.node().stats().u_pdus_refused == 4; }, 600s);
        EXPECT_EQ(net.b.node().stats().u_pdus_refused, 4u);
        EXPECT_EQ(net.sink_b.octets(), 0u);
    }
}

TEST(auth_node, the_mtu_leaves_room_for_the_trailer)
{
    for (const auto& [auth, mtu] :
         { std::pair(auth_config(), 2048u), std::pair(keys(), 2036u) }) {
        node_config c = sealing_peer::with_keys();
        c.auth = auth;
        scripted_peer p(c);
        s_bind_request r;
        r.sap = 3;
        p.send(1, r);
        const auto bound = p.answer<s_bind_accepted>();
        ASSERT_TRUE(bound);
        EXPECT_EQ(bound->mtu, mtu);
        p.submit(1, mtu);
        EXPECT_TRUE(p.primitives().empty());
        p.submit(1, mtu + 1);
        const auto rejected = p.answer<s_unidata_request_rejected>();
        ASSERT_TRUE(rejected);
        EXPECT_EQ(rejected->reason, uint8_t(unidata_reject_reason::larger_than_mtu));
    }
}

// The longest U_PDU that is sealed arrives.
TEST(auth_node, the_longest_u_pdu_arrives)
{
    sim::two_stations net(config_of(1, keys()), config_of(2, keys()));
    net.source_a.send(net.b.address(), 2036, 2036);
    net.s.run_until([&] { return net.sink_b.octets() > 0; }, 600s);
    EXPECT_EQ(net.sink_b.octets(), 2036u);
}

TEST(auth_node, confirmations_have_the_octets_of_the_client)
{
    for (const auto how :
         { delivery_confirmation::node, delivery_confirmation::client }) {
        delivery_mode service;
        service.confirmation = how;
        sim::two_stations net(config_of(1, keys()), config_of(2, keys()), {}, 1, service);
        std::vector<std::vector<uint8_t>> confirmed;
        net.source_a.on_report = [&](const s_primitive& p) {
            if (const auto* c = std::get_if<s_unidata_request_confirm>(&p)) {
                confirmed.push_back(c->u_pdu);
            }
        };
        net.source_a.send(net.b.address(), 1000, 500);
        net.s.run_until([&] { return confirmed.size() == 2; }, 600s);
        EXPECT_EQ(confirmed,
                  (std::vector{ sim::bulk_source::u_pdu(0, 500),
                                sim::bulk_source::u_pdu(1, 500) }));
    }
}

TEST(auth_node, delivers_once_what_is_recorded_and_sent_again)
{
    sealing_peer p;
    const auto genuine = p.sealed({ 'h', 'i' });
    p.receive({ p.carrier(0, genuine) });
    const auto i = p.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    EXPECT_EQ(i->u_pdu, (std::vector<uint8_t>{ 'h', 'i' }));
    p.receive({ p.carrier(1, genuine), p.carrier(2, { 'h', 'i' }) });
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.stats().u_pdus_proved, 1u);
    EXPECT_EQ(p.n.stats().u_pdus_refused, 2u);
    const auto log = p.log();
    EXPECT_NE(log.find("U_PDU refused: replayed, from 1.2.0.0 SAP 3 to SAP 3"),
              std::string::npos)
        << log;
    EXPECT_NE(log.find("U_PDU refused: no trailer"), std::string::npos) << log;
    p.receive({ p.carrier(3, p.sealed({ 'm', 'e' })) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(auth_node, a_restart_delivers_no_recording)
{
    node_config c = sealing_peer::with_keys();
    std::vector<uint8_t> recorded;
    {
        sealing_peer p(c);
        recorded = p.sealed({ 1, 2, 3 });
        p.receive({ p.carrier(0, recorded) });
        EXPECT_TRUE(p.answer<s_unidata_indication>());
        c.auth.state = p.n.poll_auth_state().value();
        EXPECT_FALSE(p.n.poll_auth_state());
    }
    sealing_peer again(c);
    again.receive({ again.carrier(0, recorded) });
    EXPECT_TRUE(again.primitives().empty());
    EXPECT_EQ(again.n.stats().u_pdus_refused, 1u);
}

TEST(auth_node, accepts_and_shows_what_is_not_proved)
{
    node_config c = sealing_peer::with_keys();
    c.auth.others = auth_policy::accept;
    sealing_peer p(c);
    p.receive({ p.carrier(0, { 'h', 'i' }) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    EXPECT_EQ(p.n.stats().u_pdus_not_proved, 1u);
    ASSERT_EQ(p.n.state().auth_peers.size(), 1u);
    EXPECT_EQ(p.n.state().auth_peers[0].last, auth_verdict::not_proved);
    EXPECT_NE(p.log().find("U_PDU delivered, not proved, from 1.2.0.0"),
              std::string::npos);
}

// A damaged U_PDU proves nothing, and is no wrong proof that makes the keys rest.
TEST(auth_node, damaged_u_pdus_are_refused)
{
    sealing_peer p;
    s_bind_request r;
    r.sap = 5;
    r.service.mode = transmission_mode::non_arq_with_errors;
    p.send(2, r);
    p.primitives();
    s_pdu s;
    s.src_sap = s.dst_sap = 5;
    s.u_pdu.assign(60, 7);
    p.seals.seal(address("1.1.0.0"), 5, 5, s.u_pdu);
    const auto whole = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
    d_pdu d = scripted_peer::from_peer(d_pdu_type::non_arq_data);
    d.non_arq.c_pdu_id = 9;
    d.non_arq.c_pdu_size = static_cast<uint16_t>(whole.size());
    d.non_arq.window = 2;
    d.segment.assign(whole.begin(), whole.begin() + 40);
    p.receive({ d });
    p.wait(10);
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.state().auth_peers.at(0).last, auth_verdict::damaged);
}

TEST(auth_node, broadcasts_are_signed)
{
    auth_config signs = keys(), knows = keys();
    signs.signing_key.emplace().fill(9);
    knows.public_keys[address("1.1.0.0")] = public_key_of(*signs.signing_key);
    delivery_mode service;
    service.mode = transmission_mode::non_arq;
    sim::two_stations net(config_of(1, signs), config_of(2, knows), {}, 1, service);
    net.source_a.send(address::broadcast(), 5000, 500);
    net.s.run_until([&] { return net.sink_b.octets() >= 5000; }, 600s);
    EXPECT_EQ(net.sink_b.octets(), 5000u);
    EXPECT_EQ(net.b.node().stats().u_pdus_proved, 10u);
}
