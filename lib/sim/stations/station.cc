/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/station.h"

namespace gr::hf::sim {

station::station(scheduler& s,
                 emulated_air& air,
                 const s5066::node_config& config,
                 const modem_config& modem)
    : d_scheduler(s), d_air(air), d_config(config), d_modem_config(modem)
{
    make();
}

void station::make()
{
    d_node = std::make_unique<s5066::node>(d_config);
    d_modem = std::make_unique<emulated_modem>(
        d_scheduler,
        d_air,
        *d_node,
        d_modem_config,
        [this] { return d_node->next_deadline(); },
        [this] { drain(); });
    d_modem_config.id = d_modem->id();
}

void station::restart(uint64_t seed)
{
    d_config.seed = seed;
    ++d_restarts;
    power_off();
    make();
}

void station::power_off() { d_modem.reset(); }

void station::step_clock(station_time by)
{
    d_modem_config.clock += by;
    if (on())
        d_modem->step_clock(by);
}

s5066::client_id station::attach(client_function f)
{
    return attach_octets(
        [f = std::move(f)](station_time now, const std::vector<uint8_t>& o) {
            if (const auto p = s5066::decode_primitive(o))
                f(now, *p);
        });
}

s5066::client_id station::attach_octets(octets_function f)
{
    const auto c = d_next_client++;
    d_clients[c] = std::move(f);
    return c;
}

void station::detach(s5066::client_id c)
{
    d_clients.erase(c);
    if (on()) {
        d_node->client_gone(d_modem->clock(), c);
        d_modem->poke();
    }
}

void station::send(s5066::client_id c, const s5066::s_primitive& p)
{
    send_octets(c, s5066::encode(p));
}

void station::send_octets(s5066::client_id c, const std::vector<uint8_t>& p)
{
    if (!on())
        return;
    d_node->sis_in(d_modem->clock(), c, p);
    drain();
    if (!d_draining && on())
        d_modem->poke();
}

void station::drain()
{
    if (d_draining)
        return; // a client answers from inside its callback; the loop below goes on
    d_draining = true;
    while (const auto p = d_node->poll_sis()) {
        const auto it = d_clients.find(p->client);
        if (it != d_clients.end()) {
            const auto f = it->second; // the client may detach itself
            d_numbering = p->numbering;
            f(d_scheduler.now(), p->octets);
        }
    }
    d_draining = false;
    if (auto changed = d_node->poll_auth_state())
        d_config.auth.state = std::move(*changed);
    while (const auto l = d_node->poll_trace())
        if (on_trace)
            on_trace(*l);
    while (const auto t = d_node->poll_tap())
        if (on_tap)
            on_tap(*t);
}

} // namespace gr::hf::sim
