/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"
#include <hf/station_time.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <stdexcept>
#include <vector>

namespace gr::hf::test {

using octets = std::vector<uint8_t>;

/*! \brief A subnetwork without a data link, for tests of SIS clients: takes primitives,
 *         carries U_PDUs at a rate, confirms or rejects them. Virtual time.
 */
class fake_subnet
{
public:
    struct knobs {
        double rate = 9600; // bit/s of each node's transmitter
        station_time delay = std::chrono::seconds(1);
        double jitter_s = 0;            // of as-they-arrive U_PDUs: reorders them
        double lose_confirm = 0;        // delivered, but rejected
        bool up = true;                 // false: all is rejected
        size_t returned_octets = 65535; // of the U_PDU in confirms and rejects
        uint16_t mtu = 2048;
    };

    explicit fake_subnet(uint32_t seed = 1) : d_rng(seed) {}

    knobs k;
    size_t carried = 0, rejected = 0, largest_backlog = 0;
    std::function<void(const s5066::s_unidata_request&)> on_request;
    //! True: the U_PDU is confirmed, and nobody gets it.
    std::function<bool(const s5066::s_unidata_request&)> swallows;

    struct port {
        s5066::address node;
        std::function<void(station_time, const octets&)> in;
        std::function<std::optional<octets>()> out;
        std::function<std::optional<station_time>()> deadline;
        std::function<void(station_time)> on_deadline;
        std::function<void(station_time)> after; // the user's own work after each call
        std::map<uint8_t, bool> bound;
        station_time free_at{};     // transmitter
        station_time in_order_at{}; // last in-order delivery
        size_t backlog = 0;
        uint8_t sap = 0;
    };

    //! \p c has sis_in, poll_sis, next_deadline, on_deadline.
    template <typename Client>
    size_t attach(const s5066::address& node,
                  Client& c,
                  std::function<void(station_time)> after = {})
    {
        port p;
        p.node = node;
        p.in = [&c](station_time t, const octets& v) { c.sis_in(t, v.data(), v.size()); };
        p.out = [&c] { return c.poll_sis(); };
        p.deadline = [&c] { return c.next_deadline(); };
        p.on_deadline = [&c](station_time t) { c.on_deadline(t); };
        p.after = std::move(after);
        d_ports.push_back(std::move(p));
        return d_ports.size() - 1;
    }

    station_time now() const { return d_now; }

    void tell(size_t port_index, const s5066::s_primitive& p)
    {
        deliver(d_ports[port_index], s5066::encode(p));
    }

    //! Drain all clients.
    void settle()
    {
        for (bool again = true; again;) {
            again = false;
            for (auto& p : d_ports) {
                if (p.after)
                    p.after(d_now);
                while (auto v = p.out()) {
                    again = true;
                    take(p, *v);
                    if (p.after)
                        p.after(d_now);
                }
            }
        }
    }

    //! Runs until \p end or until \p done says so; returns whether it did.
    bool run(station_time end, const std::function<bool()>& done = {})
    {
        settle();
        for (;;) {
            if (done && done())
                return true;
            station_time next = end;
            if (!d_events.empty())
                next = std::min(next, d_events.top().at);
            for (auto& p : d_ports)
                if (const auto t = p.deadline())
                    next = std::min(next, std::max(*t, d_now));
            if (next >= end) {
                d_now = end;
                return done && done();
            }
            d_now = next;
            while (!d_events.empty() && d_events.top().at <= d_now) {
                auto f = d_events.top().f;
                d_events.pop();
                f();
            }
            for (auto& p : d_ports) {
                const auto t = p.deadline();
                if (t && *t <= d_now)
                    p.on_deadline(d_now);
            }
            settle();
        }
    }
    bool run_for(double s, const std::function<bool()>& done = {})
    {
        return run(d_now + from_seconds(s), done);
    }

private:
    struct timed {
        station_time at;
        uint64_t order;
        std::function<void()> f;
        bool operator<(const timed& o) const
        {
            return at != o.at ? at > o.at : order > o.order;
        }
    };

    void at(station_time t, std::function<void()> f)
    {
        d_events.push({ t, d_order++, std::move(f) });
    }
    double uniform() { return std::uniform_real_distribution<>()(d_rng); }

    void deliver(port& p, const octets& v) { p.in(d_now, v); }

    void take(port& p, const octets& v)
    {
        const auto q = s5066::decode_primitive(v);
        if (!q)
            throw std::runtime_error("client sent a malformed primitive");
        if (const auto* b = std::get_if<s5066::s_bind_request>(&*q)) {
            p.sap = b->sap;
            p.bound[b->sap] = true;
            deliver(p, s5066::encode(s5066::s_bind_accepted{ b->sap, k.mtu }));
        } else if (const auto* u = std::get_if<s5066::s_unidata_request>(&*q)) {
            if (on_request)
                on_request(*u);
            carry(p, *u);
        }
    }

    void carry(port& from, const s5066::s_unidata_request& u)
    {
        using s5066::delivery_confirmation;
        const bool confirm = u.mode.confirmation == delivery_confirmation::node;
        octets part(u.u_pdu.begin(),
                    u.u_pdu.begin() + long(std::min(u.u_pdu.size(), k.returned_octets)));
        const size_t index = size_t(&from - d_ports.data());
        from.backlog += u.u_pdu.size();
        largest_backlog = std::max(largest_backlog, from.backlog);
        const double air_s = (u.u_pdu.size() + 26.0) * 8 / k.rate;
        from.free_at = std::max(from.free_at, d_now) + from_seconds(air_s);
        const bool in_order = u.mode.order == s5066::delivery_order::in_order;
        station_time there = from.free_at + k.delay;
        if (!in_order)
            there += from_seconds(k.jitter_s * uniform());
        else
            from.in_order_at = there = std::max(there, from.in_order_at);
        const auto settle_at = [this, index, u, part, confirm](bool ok) {
            port& f = d_ports[index];
            f.backlog -= u.u_pdu.size();
            if (!ok)
                ++rejected;
            if (!confirm)
                return;
            if (ok)
                deliver(f,
                        s5066::encode(s5066::s_unidata_request_confirm{
                            false, u.dst_sap, u.dst, part }));
            else
                deliver(f,
                        s5066::encode(s5066::s_unidata_request_rejected{
                            false, 3, u.dst_sap, u.dst, part }));
        };
        at(there, [this, index, u, settle_at] {
            if (!k.up) {
                settle_at(false);
                return;
            }
            ++carried;
            const bool nobody = swallows && swallows(u);
            for (auto& p : d_ports) {
                if (nobody || &p == &d_ports[index] ||
                    (p.node != u.dst && !u.dst.is_group()))
                    continue;
                s5066::s_unidata_indication i;
                i.priority = u.priority;
                i.dst_sap = u.dst_sap;
                i.dst = u.dst;
                i.mode = u.mode.mode;
                i.src_sap = d_ports[index].sap;
                i.src = d_ports[index].node;
                i.u_pdu = u.u_pdu;
                if (p.sap == u.dst_sap)
                    deliver(p, s5066::encode(i));
            }
            const bool lost = uniform() < k.lose_confirm;
            at(d_now + k.delay, [settle_at, lost] { settle_at(!lost); });
        });
    }

    std::mt19937 d_rng;
    station_time d_now{};
    uint64_t d_order = 0;
    std::priority_queue<timed> d_events;
    std::vector<port> d_ports;
};

} // namespace gr::hf::test
