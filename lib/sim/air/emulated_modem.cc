/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/emulated_modem.h"

namespace gr::hf::sim {

emulated_modem::emulated_modem(scheduler& s,
                               emulated_air& air,
                               modem_user& user,
                               const modem_config& config,
                               deadline_function next_deadline,
                               after_function after)
    : d_scheduler(s), d_air(air), d_user(user), d_config(config),
      d_next_deadline(std::move(next_deadline)), d_after(std::move(after))
{
    d_id = d_air.join(this, config.id);
    d_config.id = d_id;
    listen();
}

emulated_modem::~emulated_modem()
{
    *d_alive = false;
    d_air.leave(this);
}

std::function<void()> emulated_modem::guarded(std::function<void()> f)
{
    return [alive = d_alive, f = std::move(f)] {
        if (*alive)
            f();
    };
}

station_time emulated_modem::rx_latency(const mode& m) const
{
    const bool wideband = m.bandwidth_hz > 3000;
    return d_config.rx_latency.value_or(std::chrono::milliseconds(wideband ? 50 : 100));
}

void emulated_modem::poke() { schedule(); }

void emulated_modem::step_clock(station_time by)
{
    d_config.clock += by;
    d_scheduled.reset();
    schedule();
}

void emulated_modem::service()
{
    d_user.on_tick(clock());
    if (!d_sending) {
        if (const auto m = d_user.want_tx(clock()))
            start(*m);
    }
    if (d_after)
        d_after();
    schedule();
}

void emulated_modem::schedule()
{
    auto t = d_next_deadline ? d_next_deadline() : clock() + d_config.tick;
    if (!t) {
        d_scheduled.reset();
        ++d_wake;
        return;
    }
    // Ticks are on a grid, never twice at the same time.
    const auto tick = d_config.tick.count();
    const auto next = (d_scheduler.now().count() / tick + 1) * tick;
    const auto due = ((*t - d_config.clock).count() + tick - 1) / tick * tick;
    const station_time at(std::max(next, due));
    if (d_scheduled && *d_scheduled == at)
        return;
    d_scheduled = at;
    const uint64_t wake = ++d_wake;
    d_scheduler.at(at, guarded([this, wake] {
                       if (wake == d_wake) {
                           d_scheduled.reset();
                           service();
                       }
                   }));
}

// Keys the transmitter and aborts a reception, as a modem with samples does.
void emulated_modem::start(const mode& m)
{
    if (d_hearing) {
        d_hearing.reset();
        d_late.reset();
        d_user.on_rx_end(clock(), { rx_end_reason::preempted, clock() });
    }
    d_sending = d_air.begin(this, m);
    forget_carrier();
    d_bits = 0;
    d_scheduler.at(d_sending->begin + d_sending->timing.block_begin(0),
                   guarded([this] { send_block(0); }));
}

void emulated_modem::send_block(size_t k)
{
    const auto s = d_sending;
    const auto& t = s->timing;
    const size_t full = (k + 1) * t.bits_per_block;
    const size_t ask = full > d_bits ? (full - d_bits + 7) / 8 : 0;
    const station_time begin = s->begin + t.block_begin(k);
    tx_octets o;
    if (s->end) {
        o.last = true; // only the end of message and fill remain
    } else {
        o = d_user.pull(clock(), begin + d_config.clock, ask);
        o.last = o.last || o.octets.size() < ask;
        d_bits += 8 * o.octets.size();
    }
    bool over = false;
    if (o.last) {
        const size_t blocks = std::max<size_t>(t.blocks_for(d_bits / 8), 1);
        s->end = s->begin + t.block_end(blocks - 1);
        over = k + 1 >= blocks;
    }
    d_air.block(s, k, std::move(o.octets), over);
    if (over) {
        d_scheduler.at(s->begin + t.block_end(k),
                       guarded([this] { end_transmission(); }));
    } else {
        d_scheduler.at(s->begin + t.block_begin(k + 1),
                       guarded([this, k] { send_block(k + 1); }));
    }
    if (d_after)
        d_after();
}

// Listens from now on, until something is sent or received.
void emulated_modem::listen()
{
    d_listening_since = d_scheduler.now();
    if (d_config.carrier_delay) {
        d_scheduler.at(d_listening_since + *d_config.carrier_delay,
                       guarded([this] { sense(); }));
    }
}

// Once announced, the detector reports only changes.
void emulated_modem::forget_carrier()
{
    if (d_carrier)
        d_carrier = false;
}

void emulated_modem::sense()
{
    if (d_sending || d_hearing || !d_config.carrier_delay)
        return;
    const bool present = d_air.audible(*this);
    if (d_carrier == present)
        return;
    d_carrier = present;
    d_user.on_carrier(clock(), present);
    if (d_after)
        d_after();
    schedule();
}

void emulated_modem::end_transmission()
{
    d_sending.reset();
    listen();
    d_user.on_tx_end(clock());
    if (d_after)
        d_after();
    schedule();
}

void emulated_modem::preamble_over(const emulated_air::signal_ptr& s,
                                   bool noticed,
                                   double snr_db)
{
    if (!noticed || d_sending || d_hearing)
        return;
    d_hearing = s;
    forget_carrier();
    rx_start e;
    e.m = s->m;
    e.snr_db = snr_db;
    d_user.on_rx_start(clock(), e);
    if (d_after)
        d_after();
    schedule();
}

void emulated_modem::block_over(const emulated_air::signal_ptr& s, rx_octets e, bool late)
{
    if (d_hearing != s || e.octets.empty())
        return;
    if (late && !d_late) {
        d_late = std::move(e);
        return;
    }
    hand_over(e);
    if (d_late) {
        auto held = std::move(*d_late);
        d_late.reset();
        hand_over(held);
    }
}

void emulated_modem::hand_over(const rx_octets& e)
{
    d_user.on_rx_octets(clock(), e);
    if (d_after)
        d_after();
}

void emulated_modem::signal_forgotten(const emulated_air::signal_ptr& s)
{
    if (d_hearing == s) {
        d_hearing.reset();
        d_late.reset();
        listen();
    }
}

void emulated_modem::signal_over(const emulated_air::signal_ptr& s,
                                 station_time air_end,
                                 bool eom)
{
    if (d_hearing != s)
        return;
    d_hearing.reset();
    d_late.reset();
    listen();
    rx_end e;
    e.reason = eom ? rx_end_reason::eom : rx_end_reason::lost;
    e.air_end = air_end + d_config.clock;
    d_user.on_rx_end(clock(), e);
    if (d_after)
        d_after();
    schedule();
}

} // namespace gr::hf::sim
