/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Clients that share one station: no client is held up by what another has queued.
#include "s5066/pdu/d_pdu.h"
#include "sim/stations/traffic.h"

#include <gtest/gtest.h>
#include <memory>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;

namespace {

constexpr uint8_t flood_sap = 3, message_sap = 5;

struct flow_case {
    const char* mode;
    uint8_t priority; // of the message; the flood has 0
    bool other_peer;  // the message goes to another peer
    bool two_way;     // a flood comes back as well
};
void PrintTo(const flow_case& c, std::ostream* os)
{
    *os << c.mode << " priority " << int(c.priority)
        << (c.other_peer ? " to another station" : "") << (c.two_way ? " two-way" : "");
}

struct three_stations {
    explicit three_stations(const flow_case& c) : air(s, 7)
    {
        for (int i = 0; i < 3; ++i) {
            node_config config;
            config.own = address("1." + std::to_string(i + 1) + ".0.0");
            config.mode = c.mode;
            config.seed = static_cast<uint64_t>(70 + i);
            at.push_back(std::make_unique<station>(s, air, config));
        }
    }
    scheduler s;
    emulated_air air;
    std::vector<std::unique_ptr<station>> at;
};

class flow_control : public testing::TestWithParam<flow_case>
{
};

} // namespace

// A client that obeys S_DATA_FLOW_OFF, beside one that always has more than can be sent.
TEST_P(flow_control, a_polite_client_waits_one_transmission_at_most)
{
    const auto& c = GetParam();
    three_stations t(c);
    station &a = *t.at[0], &b = *t.at[1], &to = *t.at[c.other_peer ? 2 : 1];
    delivery_mode message_mode;
    message_mode.order = delivery_order::in_order;
    bulk_source flood(t.s, a, flood_sap), back(t.s, b, flood_sap + 1);
    bulk_sink flood_sink(t.s, b, flood_sap), back_sink(t.s, a, flood_sap + 1);
    bulk_source message(t.s, a, message_sap, message_mode);
    bulk_sink sink(t.s, to, message_sap);
    message.priority = c.priority;
    t.s.run_until(1ms);
    flood.send(b.address(), size_t{ 1 } << 40, 2000);
    if (c.two_way) {
        back.send(a.address(), size_t{ 1 } << 40, 2000);
    }
    double worst_s = 0;
    station_time when = 300s;
    for (int k = 0; k < 40; ++k, when += 317s) { // at many points of a transmission
        t.s.run_until(when);
        const auto before = sink.u_pdus();
        message.send(to.address(), 100, 100);
        t.s.run_until([&] { return sink.u_pdus() > before; }, when + 310s);
        ASSERT_GT(sink.u_pdus(), before) << "message " << k;
        worst_s = std::max(worst_s, to_seconds(sink.last() - when));
    }
    const double rate_bps = mode::parse(c.mode).rate_bps;
    const double turns_s = c.other_peer || c.two_way ? 10 : 0; // acknowledgement, call
    // With two-way traffic it is the other side's transmission, and the rest of our own
    // if that has no room for the message: less than a longest D_PDU.
    const double rest_s = c.two_way ? 8.0 * (max_segment + 22) / rate_bps : 0;
    // Both leave a pause for newcomers, of up to nine slots of 0.7 s (node_config::lone_run_s).
    const double pause_s = c.two_way ? 6.3 : 0;
    // After that pause the side that has sent may send again, if its transmission of whole
    // blocks was shorter than the longest duration.
    const double again_s =
        c.two_way && c.mode == std::string("4539-600S") ? s5066::max_eot_s : 0;
    std::printf("worst %.1f s\n", worst_s);
    EXPECT_LE(worst_s, s5066::max_eot_s + turns_s + rest_s + pause_s + again_s);
    const double share = 8.0 *
                         static_cast<double>(flood_sink.octets() + back_sink.octets()) /
                         (to_seconds(when) * rate_bps);
    EXPECT_GT(share, c.other_peer ? 0.75 : 0.85);
}

INSTANTIATE_TEST_SUITE_P(clients,
                         flow_control,
                         testing::Values(flow_case{ "4539-9600S", 15, false, false },
                                         flow_case{ "4539-9600S", 0, false, false },
                                         flow_case{ "4539-9600S", 15, true, false },
                                         flow_case{ "4539-600S", 15, false, false },
                                         flow_case{ "4539-600S", 15, true, false },
                                         flow_case{ "4539-9600S", 15, false, true },
                                         flow_case{ "4539-9600S", 0, false, true },
                                         flow_case{ "4539-600S", 15, false, true }));
