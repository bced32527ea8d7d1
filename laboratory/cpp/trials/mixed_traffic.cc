/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/mixed_traffic.h"

#include "s5066/node/pcap.h"
#include "sim/stations/station.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

using namespace gr::hf::s5066;

constexpr int64_t epoch = 1700000000;
constexpr uint8_t data_sap = 3, hard_link_sap = 7, nobody_sap = 12;
constexpr size_t stations = 5, on_first_channel = 3;

class exchange
{
public:
    exchange(const mixed_traffic& t, const pcap_output& d_pdus, const pcap_output& sis)
        : d_config(t), d_random(t.seed), d_d_pdu_out(d_pdus), d_sis_out(sis),
          d_d_pdus(pcap_writer::link_d_pdu, epoch), d_sis(epoch)
    {
        d_d_pdu_out(d_d_pdus.header());
        d_sis_out(d_sis.header());
        make_channels();
        for (size_t i = 0; i < stations; ++i)
            make_station(i);
    }

    mixed_traffic_result run(const std::function<void(double)>& progress)
    {
        // The simulation is the same in one piece or in many.
        constexpr int pieces = 100;
        for (int k = 1; k <= pieces; ++k) {
            d_scheduler.run_until(from_seconds(d_config.duration_s * k / pieces));
            if (progress)
                progress(static_cast<double>(k) / pieces);
        }
        for (const auto& u : d_users)
            d_result.resets += u.at->node().stats().resets;
        return d_result;
    }

private:
    struct user {
        std::unique_ptr<station> at;
        client_id data = 0, links = 0;
        bool bound = true;
    };

    emulated_air& air_of(size_t i) { return i < on_first_channel ? d_fading_air : d_air; }

    void make_channels()
    {
        trace_config f;
        f.mean_db = 14;
        f.swing_db = 8;
        f.period_s = 1800;
        f.slow_db = 3;
        f.fading_hz = 1;
        f.seed = d_config.seed;
        air_path p;
        p.fading = std::make_shared<const snr_trace>(snr_trace::make(f));
        d_fading_air.set_default_path(p);
        air_path q;
        q.ber = 3e-5;
        q.loss = 0.05;
        d_air.set_default_path(q);
    }

    void make_station(size_t i)
    {
        node_config c;
        c.own = s5066::address("1." + std::to_string(i + 1) + ".0.0");
        c.groups = { s5066::address("16.0.0.1") };
        c.seed = d_config.seed * 100 + i;
        c.tap = true;
        c.send_ttd = i % 2 == 0;
        c.utc_at_zero_s = epoch;
        c.keep_alive_s = 300;
        c.large_windows = false; // tshark knows Edition 3
        c.mode = i < on_first_channel ? "auto" : "4539-1200S";
        c.drc = i >= on_first_channel;
        user u;
        u.at = std::make_unique<station>(d_scheduler, air_of(i), c);
        // Capture only sent D_PDUs. Received ones have bit errors.
        u.at->on_tap = [this](const tap_record& r) {
            if (r.sent) {
                ++d_result.d_pdus[r.octets[2] >> 4];
                d_d_pdu_out(d_d_pdus.d_pdu(r.time, r.octets));
            }
        };
        d_users.push_back(std::move(u));
        attach(i);
        next(i);
    }

    void attach(size_t i)
    {
        delivery_mode m;
        m.confirmation = delivery_confirmation::node;
        d_users[i].data = bind(i, data_sap, 3, m);
        d_users[i].links = bind(i, hard_link_sap, 15, m);
        d_users[i].bound = true;
    }

    client_id bind(size_t i, uint8_t sap, uint8_t rank, const delivery_mode& m)
    {
        const uint64_t number = ++d_connections;
        auto id = std::make_shared<client_id>();
        *id = d_users[i].at->attach_octets(
            [this, i, id, number](station_time, const std::vector<uint8_t>& o) {
                capture(number, false, o);
                const auto p = decode_primitive(o);
                const auto* h = p ? std::get_if<s_hard_link_indication>(&*p) : nullptr;
                if (h)
                    send(i, *id, s_hard_link_accept{ h->link });
            });
        d_numbers[{ i, *id }] = number;
        send(i, *id, s_bind_request{ sap, rank, m });
        return *id;
    }

    void capture(uint64_t number, bool to_node, const std::vector<uint8_t>& o)
    {
        constexpr size_t type_at = 5; // after the preamble, version and length
        if (o.size() > type_at && o[type_at] < d_result.primitives.size())
            ++d_result.primitives[o[type_at]];
        d_sis_out(d_sis.primitive(d_scheduler.now(), number, to_node, o));
    }

    void send(size_t i, client_id c, const s_primitive& p)
    {
        capture(d_numbers[{ i, c }], true, encode(p));
        d_users[i].at->send(c, p);
    }

    size_t other(size_t i)
    {
        const size_t from = i < on_first_channel ? 0 : on_first_channel;
        const size_t n = i < on_first_channel ? on_first_channel : stations - from;
        const size_t k = from + below(n - 1);
        return k < i ? k : k + 1;
    }

    size_t below(size_t n) { return static_cast<size_t>(d_random() % n); }

    void next(size_t i)
    {
        const double u = static_cast<double>((d_random() >> 11) + 1) / 9007199254740993.0;
        d_scheduler.at(d_scheduler.now() +
                           from_seconds(-d_config.interval_s * std::log(u)),
                       [this, i] {
                           act(i);
                           next(i);
                       });
    }

    s_unidata_request to(size_t i, size_t octets)
    {
        s_unidata_request r;
        r.dst = d_users[other(i)].at->address();
        r.dst_sap = data_sap;
        r.mode.mode = transmission_mode::arq;
        r.mode.confirmation = static_cast<delivery_confirmation>(below(3));
        r.mode.order =
            below(2) ? delivery_order::in_order : delivery_order::as_they_arrive;
        r.priority = static_cast<uint8_t>(below(16));
        r.ttl = 900;
        r.u_pdu.resize(octets);
        std::generate(r.u_pdu.begin(), r.u_pdu.end(), [this] {
            return static_cast<uint8_t>(d_random());
        });
        return r;
    }

    void act(size_t i)
    {
        const user& u = d_users[i];
        if (!u.at->on() || !u.bound)
            return;
        const size_t what = below(100);
        if (what < 35) {
            send(i, u.data, to(i, 20 + below(1500)));
        } else if (what < 45) {
            for (size_t k = 2 + below(4); k > 0; --k)
                send(i, u.data, to(i, 2048));
        } else if (what < 60) {
            auto r = to(i, 10 + below(300));
            r.expedited = true;
            r.priority = 0;
            send(i, u.data, r);
        } else if (what < 75) {
            auto r = to(i, 50 + below(800));
            r.mode = delivery_mode();
            r.mode.mode = below(2) ? transmission_mode::non_arq
                                   : transmission_mode::non_arq_with_errors;
            r.mode.retransmissions = static_cast<uint8_t>(below(3));
            r.expedited = below(4) == 0;
            r.priority = 0;
            r.dst = below(3)   ? r.dst
                    : below(2) ? s5066::address::broadcast()
                               : s5066::address("16.0.0.1");
            send(i, u.data, r);
        } else if (what < 80) {
            auto r = to(i, 100);
            r.dst_sap = nobody_sap;
            send(i, u.data, r);
        } else if (what < 85) {
            send(i,
                 u.data,
                 below(2) ? s_primitive(s_keep_alive{})
                          : s_primitive(s_management_msg_request{}));
        } else if (what < 94) {
            hard_link_for_a_while(i);
        } else if (what < 98) {
            rebind(i);
        } else {
            restart(i);
        }
    }

    void hard_link_for_a_while(size_t i)
    {
        hard_link l;
        l.type = static_cast<uint8_t>(below(3));
        l.priority = static_cast<uint8_t>(below(4));
        l.remote_sap = hard_link_sap;
        l.remote = d_users[other(i)].at->address();
        ++d_result.hard_links;
        const client_id c = d_users[i].links;
        send(i, c, s_hard_link_establish{ l });
        d_scheduler.at(d_scheduler.now() + std::chrono::seconds(40 + below(60)),
                       [this, i, c, l] {
                           if (c == d_users[i].links)
                               send(i, c, s_hard_link_terminate{ l.remote });
                       });
    }

    void rebind(size_t i)
    {
        user& u = d_users[i];
        send(i, u.data, s_unbind_request{});
        u.bound = false;
        d_scheduler.at(d_scheduler.now() + std::chrono::seconds(5), [this, i] {
            if (d_users[i].at->on() && !d_users[i].bound)
                attach(i);
        });
    }

    void restart(size_t i)
    {
        ++d_result.restarts;
        d_result.resets += d_users[i].at->node().stats().resets;
        d_users[i].at->power_off();
        d_users[i].bound = false;
        d_scheduler.at(d_scheduler.now() + std::chrono::seconds(10), [this, i] {
            d_users[i].at->restart(d_random());
            attach(i);
        });
    }

    const mixed_traffic d_config;
    std::mt19937_64 d_random;
    const pcap_output d_d_pdu_out, d_sis_out;
    pcap_writer d_d_pdus;
    sis_capture d_sis;
    scheduler d_scheduler;
    emulated_air d_fading_air{ d_scheduler, d_config.seed };
    emulated_air d_air{ d_scheduler, d_config.seed + 1 };
    std::vector<user> d_users;
    std::map<std::pair<size_t, client_id>, uint64_t> d_numbers;
    uint64_t d_connections = 0;
    mixed_traffic_result d_result;
};

} // namespace

mixed_traffic_result run(const mixed_traffic& t,
                         const pcap_output& d_pdus,
                         const pcap_output& sis,
                         const std::function<void(double)>& progress)
{
    if (!(t.duration_s >= 60 && t.duration_s <= 1e6) ||
        !(t.interval_s >= 1 && t.interval_s <= 1e4)) {
        throw std::invalid_argument("duration_s " + std::to_string(t.duration_s) +
                                    ", interval_s " + std::to_string(t.interval_s) +
                                    ": must be 60 to 1e6 and 1 to 1e4");
    }
    return exchange(t, d_pdus, sis).run(progress);
}

} // namespace gr::hf::sim
