/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/tcp_dte.h"
#include "modem_interface/tcp_modem.h"
#include "modem_interface/udp_dte.h"
#include "modem_interface/udp_modem.h"
#include "waveform/timing.h"

#include <functional>
#include <memory>
#include <random>

namespace gr::hf::modem_interface {

using namespace std::chrono_literals;

/*! \brief A data terminal, a network, and a modem that transmits into a list and can be made
 *         to receive. One clock, in steps of 1 ms.
 */
struct pair {
    std::unique_ptr<modem_session> modem;
    std::unique_ptr<dte_session> dte;
    mode m;
    station_time now{ 5s };
    station_time delay = 5ms; // of the network, each way
    double loss = 0;          // of datagrams
    bool never_ends = false;  // the modem does not notice the end of its transmission
    //! Takes the data link's part for pulls, if set.
    std::function<void(const pull_request&)> on_pull;
    std::mt19937 random{ 3 };

    octets to_send; // data that the data link has for the next transmission
    std::vector<port_event> events; // except for pulls
    std::vector<octets> transmissions;
    std::vector<octets> answers; // to pulls

    pair(bool udp,
         const std::string& mode_text,
         modem_settings ms = {},
         dte_settings ds = {})
        : m(mode::parse(mode_text))
    {
        ms.tx_mode = ds.tx_mode = m;
        if (udp) {
            modem = std::make_unique<udp_modem>(ms);
            dte = std::make_unique<udp_dte>(ds);
        } else {
            modem = std::make_unique<tcp_modem>(ms);
            dte = std::make_unique<tcp_dte>(ds);
        }
        d_udp = udp;
    }

    void connect()
    {
        modem->open(now);
        dte->open(now);
        d_open = true;
    }
    void disconnect()
    {
        modem->close(now);
        dte->close(now);
        d_to_modem.clear();
        d_to_dte.clear();
        d_open = false;
    }
    void send(octets o)
    {
        to_send = std::move(o);
        dte->key_up(now, m);
    }
    void run(station_time time)
    {
        const station_time end = now + time;
        while (now < end)
            step();
    }
    bool run_until(const std::function<bool()>& done, station_time limit = 300s)
    {
        const station_time end = now + limit;
        while (now < end && !done())
            step();
        return done();
    }
    //! The modem receives \p o, cut into interleaver blocks.
    void receive(const octets& o)
    {
        const size_t block = kernel::timing_of(m).bits_per_block / 8;
        modem->on_rx_start(now, { m, 20, 0 });
        for (size_t at = 0; at < o.size(); at += block) {
            run(20ms);
            const size_t n = std::min(block, o.size() - at);
            const auto p = o.begin() + static_cast<ptrdiff_t>(at);
            modem->on_rx_octets(now, { { p, p + static_cast<ptrdiff_t>(n) }, 20, 1 });
        }
        modem->on_rx_end(now, { rx_end_reason::eom, now });
    }
    template <class T>
    std::vector<T> all() const
    {
        std::vector<T> v;
        for (const auto& e : events)
            if (const auto* x = std::get_if<T>(&e))
                v.push_back(*x);
        return v;
    }
    octets received() const
    {
        octets o;
        for (const auto& e : all<rx_octets>())
            o.insert(o.end(), e.octets.begin(), e.octets.end());
        return o;
    }

private:
    struct flight {
        station_time at;
        octets data;
    };

    void step()
    {
        now += 1ms;
        if (d_open)
            network();
        if (now.count() % 10000000 == 0)
            tick();
        link();
    }
    void network()
    {
        const auto carry = [&](wire& from, std::deque<flight>& q) {
            while (auto o = from.poll_wire())
                if (!d_udp || std::uniform_real_distribution<>()(random) >= loss)
                    q.push_back({ now + delay, std::move(*o) });
        };
        carry(*dte, d_to_modem);
        carry(*modem, d_to_dte);
        while (!d_to_modem.empty() && d_to_modem.front().at <= now && modem->reading()) {
            modem->receive(
                now, d_to_modem.front().data.data(), d_to_modem.front().data.size());
            d_to_modem.pop_front();
        }
        while (!d_to_dte.empty() && d_to_dte.front().at <= now) {
            dte->receive(now, d_to_dte.front().data.data(), d_to_dte.front().data.size());
            d_to_dte.pop_front();
        }
        for (wire* w : { static_cast<wire*>(modem.get()), static_cast<wire*>(dte.get()) })
            if (const auto due = w->next_deadline(); due && *due <= now)
                w->on_deadline(now);
    }
    void tick()
    {
        modem->on_tick(now);
        if (const auto key = modem->want_tx(now)) {
            d_timing = kernel::timing_of(*key);
            d_begin = now;
            d_blocks = 0;
            d_on_air = true;
            transmissions.emplace_back();
            pull();
        } else if (d_on_air && now >= d_begin + d_timing.block_begin(d_blocks)) {
            if (d_last && never_ends) {
                return dte->on_tick(now);
            } else if (d_last) {
                d_on_air = false;
                modem->on_tx_end(now);
            } else {
                pull();
            }
        }
        dte->on_tick(now);
    }
    void pull()
    {
        // Blocks need not be a whole number of octets; the modulator asks ahead.
        const auto octets_to = [&](size_t k) {
            return (k * d_timing.bits_per_block + 7) / 8;
        };
        const size_t n = octets_to(d_blocks + 1) - octets_to(d_blocks);
        const auto o = modem->pull(now, d_begin + d_timing.block_begin(d_blocks), n);
        transmissions.back().insert(
            transmissions.back().end(), o.octets.begin(), o.octets.end());
        d_last = o.last || o.octets.size() < n;
        ++d_blocks;
    }
    void link()
    {
        while (auto e = dte->poll_event()) {
            const auto* pull = std::get_if<pull_request>(&*e);
            if (pull && on_pull) {
                on_pull(*pull);
            } else if (pull) {
                const size_t n = std::min(pull->max_octets, to_send.size());
                const auto end = to_send.begin() + static_cast<ptrdiff_t>(n);
                tx_octets o{ { to_send.begin(), end }, n == to_send.size() };
                to_send.erase(to_send.begin(), end);
                dte->on_octets(o);
            } else {
                events.push_back(std::move(*e));
            }
        }
    }

    bool d_udp = false;
    bool d_open = false;
    std::deque<flight> d_to_modem, d_to_dte;
    kernel::mode_timing d_timing;
    station_time d_begin{};
    size_t d_blocks = 0;
    bool d_on_air = false, d_last = false;
};

inline octets some_octets(size_t n, uint32_t seed = 1)
{
    std::mt19937 random(seed);
    octets o(n);
    for (auto& x : o)
        x = static_cast<uint8_t>(random());
    return o;
}

} // namespace gr::hf::modem_interface
