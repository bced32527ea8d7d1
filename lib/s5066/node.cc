/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node.h"

#include "s5066/node_impl.h"
#include "s5066/rate/fixed_rate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_peers = 256;
constexpr size_t max_trace = 10000;
constexpr size_t max_tap = 10000;
constexpr size_t least_queue_octets = 32768;

// Of which the first is the one to begin with.
std::vector<gr::hf::mode> ack_modes_of(const node_config& c, const gr::hf::mode& data)
{
    if (c.ack_mode != "auto") {
        return { c.ack_mode == "same" ? data : gr::hf::mode::parse(c.ack_mode) };
    }
    const auto ack = default_ack_mode(data);
    const auto block = [](const gr::hf::mode& m) {
        return kernel::timing_of(m).block_end(0);
    };
    return block(ack) < block(data) ? std::vector{ ack, data } : std::vector{ ack };
}

} // namespace

gr::hf::mode default_ack_mode(const gr::hf::mode& data)
{
    gr::hf::mode m = data;
    const auto exists = [&m] {
        const auto& modes = gr::hf::mode::all();
        return std::find(modes.begin(), modes.end(), m) != modes.end();
    };
    const auto first = data.family == waveform_family::serial_tone
                           ? interleaver::short_
                           : interleaver::ultra_short;
    for (const auto il :
         { first, interleaver::very_short, interleaver::short_, interleaver::none }) {
        m.il = il;
        if (exists()) {
            return m;
        }
    }
    return data;
}

const char* to_string(node_phase p)
{
    static constexpr const char* names[] = {
        "idle", "holding", "transmitting", "receiving", "waiting for an answer"
    };
    return names[static_cast<size_t>(p)];
}

node::impl::impl(const node_config& config)
    : d_config((config.validate(), config)), d_sis(d_config, d_stats, *this),
      d_random(config.seed)
{
    d_non_arq_id = static_cast<uint16_t>(d_random() & 0xfff);
    d_expedited_id = static_cast<uint16_t>(d_random() & 0xfff);
    d_deframer.set_sync_errors(config.sync_errors);
    d_deframer.set_large(large_windows());
    set_mode(config.mode);
    d_broadcast = config.broadcast_only;
    d_sis.set_broadcast(sim_time::zero(), d_broadcast);
}

void node::impl::set_mode(const std::string& m)
{
    const auto range = rate_range::parse(m);
    if (range) {
        d_data_mode = range->ceiling;
        d_longest_preamble = sim_time::zero();
        for (const auto& c : range->modes()) {
            const auto t = kernel::timing_of(c);
            d_longest_preamble = std::max(d_longest_preamble, t.block_begin(0));
        }
        d_policy = std::make_unique<adaptive_rate_policy>(*range);
    } else {
        const auto data = gr::hf::mode::parse(m);
        const auto acks = ack_modes_of(d_config, data);
        kernel::timing_of(acks.front());
        const auto timing = kernel::timing_of(data);
        d_longest_preamble = timing.block_begin(0);
        d_data_mode = data;
        // The peer waits for it in vain, then asks with a short transmission, about half of whose
        // data are needed again. With the block errors measured of 1200L on the Poor channel short
        // and long acknowledgements are as good at 4 dB, as it is with this.
        const double lost_ack_s =
            answer_wait_s() + to_seconds(timing.block_end(probe_blocks / 2 - 1));
        d_policy = std::make_unique<fixed_rate_policy>(data, acks, lost_ack_s);
    }
    d_adaptive = range.has_value();
    d_config.mode = m;
    update_water_marks();
}

void node::impl::update_water_marks()
{
    size_t high = d_config.queue_octets;
    if (high == 0) {
        const auto t = kernel::timing_of(d_data_mode);
        high =
            std::max(least_queue_octets, t.octets_in(max_blocks(t, max_eot_s)) * 5 / 4);
    }
    d_sis.set_water_marks(high);
}

size_t node::impl::aligned_u_pdu_octets() const
{
    // C_PDU and S_PDU headers take 1 + 3 octets (5 with time to die).
    const size_t header =
        1 + (d_config.send_ttd ? s_pdu_data_header_ttd : s_pdu_data_header);
    const peer none(address(), d_config.window);
    const size_t s = segment_length(none, d_data_mode);
    const size_t parts = (d_config.mtu + header) / s;
    return parts == 0 ? d_config.mtu : parts * s - header;
}

peer* node::impl::find_peer(address a) const
{
    const auto it = d_peers.find(a.raw());
    return it == d_peers.end() ? nullptr : it->second.get();
}

bool node::impl::forgettable(const peer& p) const
{
    return p.link == link_state::none && idle(p) && p.non_arq.empty() && &p != d_turn &&
           &p != d_waiting && !(d_transmitting && d_tx.to == &p);
}

peer* node::impl::get_peer(address a)
{
    if (peer* p = find_peer(a)) {
        return p;
    }
    if (d_peers.size() >= max_peers) {
        const auto it =
            std::find_if(d_peers.begin(), d_peers.end(), [this](const auto& e) {
                return forgettable(*e.second);
            });
        if (it == d_peers.end()) {
            return nullptr;
        }
        d_peers.erase(it);
    }
    // One number less than the whole window leaves one for emit_question().
    const unsigned window =
        d_adaptive ? std::min(d_config.window, 127u) : d_config.window;
    auto p = std::make_unique<peer>(a, window);
    return d_peers.emplace(a.raw(), std::move(p)).first->second.get();
}

void node::impl::submit(sim_time now, outgoing_ptr o)
{
    peer* p = get_peer(o->dst);
    if (!p) {
        d_sis.on_failed(*o, unidata_reject_reason::not_responding);
        return;
    }
    if (p->arq_idle() && p->non_arq.empty()) {
        // A little later, so that what comes together goes out together.
        p->ready_at = std::max(p->ready_at, now + from_seconds(hold_s()));
    }
    if (o->arq() && o->expedited) {
        if (p->expedited_tx.waiting() >= d_config.max_expedited) {
            d_sis.on_failed(*o, unidata_reject_reason::not_responding);
            return;
        }
        p->expedited_tx.submit(std::move(o));
        return;
    }
    if (o->arq()) {
        if (o->priority >= d_config.prompt_priority && p->tx.holds_below(o->priority)) {
            p->prompt_at = now;
            shorten(*p, o->c_pdu.size());
        }
        p->tx.submit(std::move(o));
        return;
    }
    non_arq_out n;
    n.expedited = o->expedited;
    if (n.expedited) {
        n.id = new_expedited_id();
    } else {
        n.id = d_non_arq_id;
        d_non_arq_id = static_cast<uint16_t>((d_non_arq_id + 1) & 0xfff);
    }
    n.rounds = o->mode.retransmissions;
    p->non_arq_unsent.add(*o, o->c_pdu.size());
    p->non_arq_turns[o->priority & 15].take(*o);
    const auto at =
        std::find_if(p->non_arq.begin(), p->non_arq.end(), [&o](const auto& q) {
            const bool later = q.expedited != o->expedited ? o->expedited
                               : q.o->priority != o->priority
                                   ? q.o->priority < o->priority
                                   : q.o->turn > o->turn;
            return later && q.offset == 0;
        });
    n.o = std::move(o);
    p->non_arq.insert(at, std::move(n));
}

backlog node::impl::unsent() const
{
    backlog all;
    for (const auto& [raw, p] : d_peers) {
        all += p->unsent();
    }
    return all;
}

std::vector<outgoing_ptr> node::impl::withdraw()
{
    std::vector<outgoing_ptr> all;
    const auto take = [&all](const std::vector<outgoing_ptr>& list) {
        all.insert(all.end(), list.begin(), list.end());
    };
    for (auto& [raw, p] : d_peers) {
        take(p->expedited_tx.take_queued());
        take(p->tx.take_queued());
        auto& list = p->non_arq;
        for (auto it = list.begin(); it != list.end();) {
            if (it->offset > 0 || it->window_end > sim_time::zero()) {
                ++it;
                continue;
            }
            p->non_arq_unsent.remove(*it->o, it->o->c_pdu.size());
            all.push_back(it->o);
            it = list.erase(it);
        }
    }
    return all;
}

bool node::impl::takes_compact_confirm(address a) const
{
    const auto it = d_peers.find(a.raw());
    return d_config.extensions && it != d_peers.end() &&
           it->second->has_extension(extension_compact_confirm);
}

void node::impl::set_broadcast(sim_time now, bool on)
{
    if (d_broadcast == on || d_config.broadcast_only) {
        return;
    }
    d_broadcast = on;
    trace(now, on ? "broadcast session begins" : "broadcast session ends");
    d_sis.set_broadcast(now, on);
    if (!on) {
        return;
    }
    for (auto& [raw, p] : d_peers) {
        begin_break(now, p->addr, link_break_reason::broadcast);
        for (auto list : { p->expedited_tx.take_queued(), p->tx.take_queued() }) {
            for (const auto& o : list) {
                d_sis.on_failed(*o, unidata_reject_reason::not_responding);
            }
        }
    }
    tell_links(now);
}

void node::impl::set_utc(sim_time now, double utc)
{
    d_config.utc_at_zero_s = static_cast<int64_t>(std::llround(utc - to_seconds(now)));
}

void node::impl::set_emcon(sim_time now, bool on)
{
    if (d_emcon == on) {
        return;
    }
    d_emcon = on;
    trace(now, on ? "EMCON: no transmissions" : "EMCON ends");
    d_sis.set_emcon(now, on);
}

node_state node::impl::state() const
{
    node_state s;
    s.phase = d_transmitting ? node_phase::transmitting
              : d_receiving  ? node_phase::receiving
              : d_waiting    ? node_phase::waiting_answer
              : next_start() ? node_phase::holding
                             : node_phase::idle;
    s.peer = d_shown_peer;
    s.tx_mode = d_stats.transmissions ? d_tx.m.to_string() : d_config.mode;
    s.rx_mode = d_stats.receptions ? d_rx_mode.to_string() : "";
    s.rx_snr_db = d_rx_snr_db;
    s.queued_octets = unsent().total() + d_sis.held_octets();
    for (const auto& [raw, p] : d_peers) {
        s.unacknowledged += p->tx.unacknowledged() + p->expedited_tx.unacknowledged();
    }
    s.flow_on = d_sis.flow_on();
    s.links = links();
    s.clients = d_sis.bound_clients();
    s.hard_link = d_sis.hard_link_established();
    s.broadcast = d_broadcast;
    s.emcon = d_emcon;
    return s;
}

void node::impl::trace(sim_time now, std::string text)
{
    if (!d_config.trace) {
        return;
    }
    if (d_trace.size() >= max_trace) {
        d_trace.pop_front();
    }
    d_trace.push_back({ now, std::move(text) });
}

void node::impl::tap(sim_time now, bool sent, bool ok, const std::vector<uint8_t>& octets)
{
    if (!d_config.tap) {
        return;
    }
    if (d_tap.size() >= max_tap) {
        d_tap.pop_front();
    }
    d_tap.push_back({ now, sent, ok, octets });
}

namespace {

template <typename T>
std::optional<T> pop(std::deque<T>& q)
{
    if (q.empty()) {
        return std::nullopt;
    }
    std::optional<T> r(std::move(q.front()));
    q.pop_front();
    return r;
}

} // namespace

node::node(const node_config& config) : d_impl(std::make_unique<impl>(config)) {}
node::~node() = default;

void node::sis_in(sim_time now, client_id c, const uint8_t* p, size_t n)
{
    d_impl->d_sis.sis_in(now, c, p, n);
}
void node::client_gone(sim_time now, client_id c) { d_impl->d_sis.client_gone(now, c); }
std::optional<std::pair<client_id, std::vector<uint8_t>>> node::poll_sis()
{
    return d_impl->d_sis.poll();
}

void node::on_tick(sim_time now) { d_impl->on_tick(now); }
std::optional<mode> node::want_tx(sim_time now) { return d_impl->want_tx(now); }
tx_octets node::pull(sim_time now, sim_time air_time, size_t max_octets)
{
    return d_impl->pull(now, air_time, max_octets);
}
void node::on_tx_end(sim_time now) { d_impl->on_tx_end(now); }
void node::on_rx_start(sim_time now, const rx_start& e) { d_impl->on_rx_start(now, e); }
void node::on_rx_octets(sim_time now, const rx_octets& e)
{
    d_impl->on_rx_octets(now, e);
}
void node::on_rx_end(sim_time now, const rx_end& e) { d_impl->on_rx_end(now, e); }
void node::on_carrier(sim_time now, bool present) { d_impl->on_carrier(now, present); }
void node::on_tx_damaged(sim_time now, const std::string& reason)
{
    d_impl->on_tx_damaged(now, reason);
}
std::optional<sim_time> node::next_deadline() const { return d_impl->next_deadline(); }

const node_config& node::config() const { return d_impl->d_config; }
void node::set_mode(const std::string& m) { d_impl->set_mode(m); }
void node::set_rate_policy(std::unique_ptr<rate_policy> p)
{
    d_impl->set_rate_policy(std::move(p));
}
void node::set_trace(bool on) { d_impl->d_config.trace = on; }
void node::set_tap(bool on) { d_impl->d_config.tap = on; }
void node::set_broadcast(sim_time now, bool on) { d_impl->set_broadcast(now, on); }
void node::set_utc(sim_time now, double utc) { d_impl->set_utc(now, utc); }
void node::set_emcon(sim_time now, bool on) { d_impl->set_emcon(now, on); }
size_t node::aligned_u_pdu_octets() const { return d_impl->aligned_u_pdu_octets(); }
const node_stats& node::stats() const { return d_impl->d_stats; }
node_state node::state() const { return d_impl->state(); }
uint64_t node::numberings(address a) const
{
    const peer* p = d_impl->find_peer(a);
    return p ? p->numberings : 0;
}
std::optional<trace_line> node::poll_trace() { return pop(d_impl->d_trace); }
std::optional<tap_record> node::poll_tap() { return pop(d_impl->d_tap); }

} // namespace gr::hf::s5066
