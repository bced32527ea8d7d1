/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Request and answer: the cost of a turn.
#include "sim/transfers/exchanges.h"
#include "two_stations.h"

#include <gtest/gtest.h>

#include <random>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;

namespace {

//! Answers each U_PDU at once with one of the same size.
class echo_client
{
public:
    echo_client(station& at, uint8_t sap)
        : d_station(at),
          d_client(at.attach([this, sap](station_time, const s_primitive& p) {
              if (const auto* i = std::get_if<s_unidata_indication>(&p)) {
                  s_unidata_request r;
                  r.dst = i->src;
                  r.dst_sap = sap;
                  r.u_pdu = i->u_pdu;
                  d_station.send(d_client, r);
              }
          }))
    {
        at.send(d_client, s_bind_request{ sap, 0, {} });
    }

private:
    station& d_station;
    client_id d_client;
};

struct exchange_case {
    const char* mode;
    size_t octets;
    double first_s; // at most, link set-up included
    double next_s;  // at most, with the link up
};

void PrintTo(const exchange_case& c, std::ostream* os)
{
    *os << c.mode << " " << c.octets << " octets";
}

class exchange : public testing::TestWithParam<exchange_case>
{
};

} // namespace

TEST_P(exchange, takes_no_longer_than_its_blocks_and_two_turns)
{
    const auto& c = GetParam();
    scheduler s;
    emulated_air air(s);
    station a(s, air, test_config(1, c.mode)), b(s, air, test_config(2, c.mode));
    echo_client echo(b, 9);
    station_time answered{};
    const auto client = a.attach([&](station_time now, const s_primitive& p) {
        answered = std::holds_alternative<s_unidata_indication>(p) ? now : answered;
    });
    a.send(client, s_bind_request{ 9, 0, {} });
    double took[2];
    for (double& t : took) {
        const station_time begin = s.now();
        s_unidata_request r;
        r.dst = b.address();
        r.dst_sap = 9;
        r.u_pdu.assign(c.octets, 0x55);
        a.send(client, r);
        ASSERT_TRUE(
            s.run_until([&] { return answered > begin; }, begin + from_seconds(120)));
        t = to_seconds(answered - begin);
        s.run_until(s.now() + from_seconds(15));
    }
    std::printf(
        "%s %zu octets: first %.2f s, next %.2f s\n", c.mode, c.octets, took[0], took[1]);
    EXPECT_LE(took[0], c.first_s);
    EXPECT_LE(took[1], c.next_s);
    EXPECT_EQ(a.node().stats().silent_rounds + b.node().stats().silent_rounds, 0u);
}

// Once the peer was heard a short message takes the shortest interleaver of its rate.
// 84 octets: ICMP echo over IPv4. 32 octets: a small ping. With 0.1 s each for
// collecting, turnaround and decoding.
INSTANTIATE_TEST_SUITE_P(ping,
                         exchange,
                         testing::Values(exchange_case{ "4539-9600S", 84, 1.82, 1.02 },
                                         exchange_case{ "4539-9600VS", 84, 1.38, 1.02 },
                                         exchange_case{ "4539-9600US", 84, 1.02, 1.02 },
                                         exchange_case{ "4539-1200S", 84, 4.62, 4.02 },
                                         exchange_case{ "4539-300S", 84, 11.82, 10.02 },
                                         exchange_case{ "4539-9600S", 32, 1.82, 1.02 },
                                         exchange_case{ "4539-2400S", 32, 2.82, 2.82 },
                                         exchange_case{ "4539-1200S", 32, 4.02, 3.42 },
                                         exchange_case{ "4539-1200L", 32, 11.22, 4.22 },
                                         exchange_case{ "4539-300S", 32, 8.82, 7.62 },
                                         exchange_case{ "4539-75S", 32, 29.22, 22.62 }));

TEST(published_exchange,
     acknowledgements_as_published_cost_turns_and_pings_go_without_arq)
{
    tcp_transfer t;
    t.content.resize(600'000);
    std::mt19937 random(1);
    for (auto& o : t.content)
        o = uint8_t(random());
    const auto ours = measure(t);
    t.ack_mode = "same";
    const auto published = measure(t);
    ASSERT_TRUE(ours.complete && published.complete);
    EXPECT_GT(published.total_s, ours.total_s + 1);
    // The application has passed on its last octet when the proxy has room for it.
    EXPECT_GT(ours.latency_s, 0);
    EXPECT_LT(ours.latency_s, ours.total_s);
    for (const bool icmp : { false, true }) {
        ping_series p;
        p.icmp = icmp;
        p.arq = false;
        p.count = 3;
        for (const double s : measure(p)) {
            EXPECT_GT(s, 0.5) << icmp; // two preambles and blocks
            EXPECT_LT(s, 1.8) << icmp;
        }
    }
}
