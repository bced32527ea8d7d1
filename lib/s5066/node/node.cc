/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node/node.h"

#include "s5066/node/node_impl.h"
#include "s5066/rate/fixed_rate.h"
#include "waveform/family.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_peers = 256;
constexpr station_time housekeeping_period = std::chrono::seconds(1);
constexpr size_t min_queue_octets = 32768;

// Acknowledgement modes to try, the preferred one first.
std::vector<gr::hf::mode> ack_modes_of(const node_config& c, const gr::hf::mode& data)
{
    if (c.ack_mode != "auto")
        return { c.ack_mode == "same" ? data : gr::hf::mode::parse(c.ack_mode) };
    const auto ack = default_ack_mode(data);
    const auto block = [](const gr::hf::mode& m) {
        return kernel::timing_of(m).block_end(0);
    };
    return block(ack) < block(data) ? std::vector{ ack, data } : std::vector{ ack };
}

} // namespace

const char* to_string(node_phase p)
{
    static constexpr const char* names[] = {
        "idle",
        "holding",
        "transmitting",
        "receiving",
        "waiting for an answer",
        "waiting for the end of another signal",
        "waiting for a channel",
    };
    return names[static_cast<size_t>(p)];
}

node::impl::impl(const node_config& config, code_decoder decode)
    : d_node(config, d_sis), d_sis(d_node.config, d_node.stats, d_node.log, *this),
      d_access(d_node.config, d_node.random), d_data(d_node, d_tx, d_resets, decode),
      d_rx(d_node, d_access, std::move(decode))
{
    set_mode(config.mode);
    d_links.set_broadcast(config.broadcast_only);
    d_sis.set_broadcast(station_time::zero(), config.broadcast_only);
}

void node::impl::set_mode(const std::string& m)
{
    node_config asked = d_node.config;
    asked.mode = m;
    asked.validate();
    auto range = rate_range::parse(m);
    if (range && asked.drc)
        range = range->of_one_standard(); // no rate change has a code for others
    if (range) {
        d_node.modes.data_mode = range->ceiling;
        station_time longest_preamble{};
        for (const auto& c : range->modes()) {
            const auto t = kernel::timing_of(c);
            longest_preamble = std::max(longest_preamble, t.block_begin(0));
        }
        d_access.set_modes(d_node.modes.data_mode.bandwidth_hz, longest_preamble);
        d_node.modes.of_4539 = range->of_4539;
        d_node.modes.of_5069 = range->of_5069;
        d_node.modes.robust = range->robust;
        d_node.modes.policy = std::make_unique<adaptive_rate_policy>(
            *range,
            !range->of_4539 && d_node.config.uses_large_windows() ? large_window
                                                                  : usual_window);
    } else {
        const auto data = gr::hf::mode::parse(m);
        const auto acks = ack_modes_of(d_node.config, data);
        kernel::timing_of(acks.front());
        const auto timing = kernel::timing_of(data);
        d_node.modes.data_mode = data;
        d_node.modes.of_5069 = kernel::family_of(data).link.many_bandwidths;
        d_node.modes.robust = data.family == waveform_family::robust;
        d_node.modes.of_4539 = !d_node.modes.of_5069 && !d_node.modes.robust;
        d_access.set_modes(data.bandwidth_hz, timing.block_begin(0));
        // Cost of a lost ACK: the peer waits in vain, then asks with a short
        // transmission. About half of its data are needed again, so half of its time is
        // lost. For 1200L on Poor, the measured block errors make short and long
        // acknowledgements equally good at 4 dB, and so does this cost.
        const double lost_ack_s =
            d_access.answer_wait_s() + to_seconds(timing.block_end(probe_blocks / 2 - 1));
        // The mode is what both sides have agreed where the rate changes by EOW.
        const auto messages =
            d_node.config.drc ? std::vector<gr::hf::mode>() : shorter_interleavers(data);
        const auto slower = d_node.config.drc || d_node.config.ack_mode != "auto"
                                ? std::vector<gr::hf::mode>()
                                : slower_acks(data);
        d_node.modes.policy =
            std::make_unique<fixed_rate_policy>(data, acks, messages, lost_ack_s, slower);
    }
    d_node.modes.adaptive = range.has_value();
    d_node.config.mode = m;
    update_water_marks();
}

void node::impl::update_water_marks()
{
    size_t high = d_node.config.queue_octets;
    if (high == 0) {
        const auto t = kernel::timing_of(d_node.modes.data_mode);
        high = std::max(min_queue_octets, t.octets_in(max_blocks(t, max_eot_s)) * 5 / 4);
    }
    d_sis.delivery().set_water_marks(high);
}

bool node::impl::forgettable(const peer& p) const
{
    return p.link.none() && p.idle() && p.non_arq.empty() && !d_turns.involves(p) &&
           !(d_turns.transmitting() && d_tx.to() == &p);
}

peer* node::impl::get_peer(address a)
{
    if (peer* p = d_node.find_peer(a))
        return p;
    if (d_node.peers.size() >= max_peers) {
        const auto it =
            std::find_if(d_node.peers.begin(), d_node.peers.end(), [this](const auto& e) {
                return forgettable(*e.second);
            });
        if (it == d_node.peers.end())
            return nullptr;
        d_node.peers.erase(it);
    }
    // One number less than the whole window leaves one for an empty request for an ACK
    // (transmission_builder).
    const unsigned window = d_node.modes.adaptive ? std::min(d_node.config.window, 127u)
                                                  : d_node.config.window;
    auto p = std::make_unique<peer>(a, window);
    return d_node.peers.emplace(a.raw(), std::move(p)).first->second.get();
}

void node::impl::submit(station_time now, outgoing_ptr o)
{
    peer* p = get_peer(o->dst);
    if (!p) {
        d_sis.on_failed(*o, unidata_reject_reason::not_responding);
        return;
    }
    if (p->arq_idle() && !p->non_arq.ready()) {
        // Wait a little, so that data submitted together go out together.
        p->turn.ready_at =
            std::max(p->turn.ready_at, now + from_seconds(d_access.hold_s()));
    }
    if (o->priority >= interrupting_priority && d_turns.transmitting() && p != d_tx.to())
        d_length.make_way(d_plan);
    if (o->arq() && o->expedited) {
        if (p->expedited.tx.waiting() >= d_node.config.max_expedited) {
            d_sis.on_failed(*o, unidata_reject_reason::not_responding);
            return;
        }
        p->expedited.tx.submit(std::move(o));
        return;
    }
    if (o->arq()) {
        if (o->priority >= d_node.config.prompt_priority &&
            p->arq.tx.holds_below(o->priority)) {
            p->turn.on_prompt(now, flow_of(o->c_pdu.data() + 1, o->c_pdu.size() - 1));
            p->turn.ask_waits = true;
            if (d_turns.transmitting() && d_length.shorten(*p, o->c_pdu.size()))
                p->turn.quick_credits.take();
        }
        p->arq.tx.submit(std::move(o));
        return;
    }
    const auto id = o->expedited ? d_node.ids.expedited() : d_node.ids.non_arq();
    p->non_arq.submit(std::move(o), id);
}

backlog node::impl::unsent() const
{
    backlog all;
    for (const auto& [raw, p] : d_node.peers)
        all += p->unsent();
    return all;
}

std::vector<outgoing_ptr> node::impl::withdraw()
{
    std::vector<outgoing_ptr> all;
    const auto take = [&all](const std::vector<outgoing_ptr>& list) {
        all.insert(all.end(), list.begin(), list.end());
    };
    for (auto& [raw, p] : d_node.peers) {
        take(p->expedited.tx.take_queued());
        take(p->arq.tx.take_queued());
        take(p->non_arq.withdraw());
    }
    return all;
}

bool node::impl::takes_compact_confirm(address a) const
{
    const peer* p = d_node.find_peer(a);
    return d_node.config.extensions && p &&
           p->management.has_extension(extension_compact_confirm);
}

void node::impl::make_link(station_time now, address a)
{
    d_links.make_exclusive(now, a, get_peer(a));
}

void node::impl::break_link(station_time now, address a)
{
    d_links.begin_break(now, a, link_break_reason::higher_layer);
}

void node::impl::break_nonexclusive(station_time now) { d_links.break_nonexclusive(now); }

void node::impl::set_broadcast(station_time now, bool on)
{
    if (d_links.broadcast() == on || d_node.config.broadcast_only)
        return;
    d_links.set_broadcast(on);
    d_node.log.trace(now, on ? "broadcast session begins" : "broadcast session ends");
    d_sis.set_broadcast(now, on);
    if (!on)
        return;
    for (auto& [raw, p] : d_node.peers) {
        d_links.begin_break(now, p->addr, link_break_reason::broadcast);
        for (auto list : { p->expedited.tx.take_queued(), p->arq.tx.take_queued() })
            for (const auto& o : list)
                d_sis.on_failed(*o, unidata_reject_reason::not_responding);
    }
    d_links.tell(now);
}

void node::impl::set_utc(station_time now, double utc)
{
    d_node.config.utc_at_zero_s =
        static_cast<int64_t>(std::llround(utc - to_seconds(now)));
}

void node::impl::set_emcon(station_time now, bool on)
{
    if (d_turns.emcon() == on)
        return;
    d_turns.set_emcon(on);
    d_node.log.trace(now, on ? "EMCON: no transmissions" : "EMCON ends");
    d_sis.set_emcon(now, on);
}

void node::impl::on_carrier(station_time now, bool present)
{
    d_turns.on_carrier(now, present);
}

void node::impl::on_tick(station_time now)
{
    end_overdue_reception(now);
    if (d_turns.transmitting() && now >= d_tx.overdue_at()) {
        on_tx_damaged(now, "the modem reports no end of it", false);
        on_tx_end(now);
    }
    if (peer* p = d_turns.on_tick(now))
        on_silence(now, *p);
    d_turns.drop_idle_turn(now);
    if (now >= d_housekeeping_at) {
        d_housekeeping_at = now + housekeeping_period;
        housekeeping(now);
    }
    d_links.tell(now);
}

void node::impl::housekeeping(station_time now)
{
    d_access.forget(now);
    for (auto& [raw, p] : d_node.peers) {
        std::vector<outgoing_ptr> expired;
        if (d_orderwire.late(now, *p))
            management_lost(now, *p);
        p->non_arq.expire(now, expired);
        p->arq.tx.expire(now, expired);
        p->expedited.tx.expire(now, expired);
        d_node.expired(expired);
    }
    d_data.expire(now);
    if (d_turns.quiet())
        d_links.check(now);
    d_sis.on_time(now);
    d_sis.update_flow();
}

bool node::impl::housekeeping_needed() const
{
    if (!d_data.empty())
        return true;
    return std::any_of(d_node.peers.begin(), d_node.peers.end(), [](const auto& e) {
        const peer& p = *e.second;
        return !p.link.none() || !p.arq_idle() || !p.non_arq.empty();
    });
}

std::optional<due> node::impl::next_due() const
{
    earliest first;
    if (const auto d = d_sis.next_due())
        first.add(d->which, std::max(d->at, d_housekeeping_at));
    first.add(d_turns.next_due());
    if (const auto end = rx_end_overdue())
        first.add(timer::reception_end, end->at);
    if (d_turns.transmitting())
        first.add(timer::transmission_end, d_tx.overdue_at());
    if (housekeeping_needed())
        first.add(timer::housekeeping, d_housekeeping_at);
    return first.get();
}

node_state node::impl::state() const
{
    node_state s;
    std::tie(s.phase, s.phase_ends) = d_turns.phase();
    s.peer = d_shown_peer;
    s.tx_mode = d_node.stats.transmissions ? d_tx.mode().to_string() : d_node.config.mode;
    s.tx_reason = d_node.modes.policy->why();
    s.rx_mode = d_node.stats.receptions ? d_rx.mode().to_string() : "";
    s.rx_snr_db = d_rx.snr_db();
    s.queued_octets = unsent().total() + d_sis.delivery().held_octets();
    for (const auto& [raw, p] : d_node.peers) {
        s.unacknowledged += p->arq.tx.unacknowledged() + p->expedited.tx.unacknowledged();
        p->arq.tx.add_waiting(s.queues);
        p->expedited.tx.add_waiting(s.queues);
        p->non_arq.add_waiting(s.queues);
        if (p->turn.heard_at)
            s.heard.push_back({ p->addr, p->turn.heard_snr_db, *p->turn.heard_at });
    }
    d_sis.delivery().add_waiting(s.queues);
    s.flow_on = d_sis.delivery().flow_on();
    s.links = d_links.count();
    s.clients = d_sis.bound_clients();
    s.hard_link = d_sis.hard_link_established();
    s.broadcast = d_links.broadcast();
    s.emcon = d_turns.emcon();
    s.auth_peers = d_sis.delivery().proofs().peers();
    return s;
}

node::node(const node_config& config, code_decoder decode)
    : d_impl(std::make_unique<impl>(config, std::move(decode)))
{
}
node::~node() = default;

void node::sis_in(station_time now, client_id c, const uint8_t* p, size_t n)
{
    d_impl->d_sis.sis_in(d_impl->d_time.advance(now), c, p, n);
}
void node::client_gone(station_time now, client_id c)
{
    d_impl->d_sis.client_gone(d_impl->d_time.advance(now), c);
}
std::optional<auth_state> node::poll_auth_state()
{
    return d_impl->d_sis.delivery().proofs().poll_state();
}
std::optional<sis_output> node::poll_sis() { return d_impl->d_sis.poll(); }

void node::on_tick(station_time now) { d_impl->on_tick(d_impl->d_time.advance(now)); }
std::optional<mode> node::want_tx(station_time now)
{
    return d_impl->want_tx(d_impl->d_time.advance(now));
}
tx_octets node::pull(station_time now, station_time air_time, size_t max_octets)
{
    const station_time at = d_impl->d_time.advance(now);
    return d_impl->pull(at, d_impl->d_time.of(air_time), max_octets);
}
void node::on_tx_end(station_time now) { d_impl->on_tx_end(d_impl->d_time.advance(now)); }
void node::on_rx_start(station_time now, const rx_start& e)
{
    d_impl->on_rx_start(d_impl->d_time.advance(now), e);
}
void node::on_rx_octets(station_time now, const rx_octets& e)
{
    d_impl->on_rx_octets(d_impl->d_time.advance(now), e);
}
void node::on_rx_end(station_time now, const rx_end& e)
{
    const station_time at = d_impl->d_time.advance(now);
    d_impl->on_rx_end(at, { e.reason, d_impl->d_time.of(e.air_end) });
}
void node::on_carrier(station_time now, bool present)
{
    d_impl->on_carrier(d_impl->d_time.advance(now), present);
}
void node::on_tx_damaged(station_time now, const std::string& reason, bool ended)
{
    d_impl->on_tx_damaged(d_impl->d_time.advance(now), reason, ended);
}
std::optional<station_time> node::next_deadline() const
{
    const auto d = next_due();
    return d ? std::optional(d->at) : std::nullopt;
}
std::optional<due> node::next_due() const
{
    auto d = d_impl->next_due();
    if (d)
        d->at = d_impl->d_time.clock_at(d->at);
    return d;
}
station_time node::now() const { return d_impl->d_time.now(); }

const node_config& node::config() const { return d_impl->d_node.config; }
void node::set_mode(const std::string& m) { d_impl->set_mode(m); }
void node::set_rate_policy(std::unique_ptr<rate_policy> p)
{
    d_impl->d_node.modes.policy = std::move(p);
}
void node::set_trace(bool on) { d_impl->d_node.config.trace = on; }
void node::set_tap(bool on) { d_impl->d_node.config.tap = on; }
void node::set_broadcast(station_time now, bool on)
{
    d_impl->set_broadcast(d_impl->d_time.advance(now), on);
}
void node::set_utc(station_time now, double utc)
{
    d_impl->set_utc(d_impl->d_time.advance(now), utc);
}
void node::set_grant(station_time now, bool open, std::optional<address> only)
{
    const station_time at = d_impl->d_time.advance(now);
    auto& turns = d_impl->whose_turn();
    const bool opens = open && !turns.open();
    turns.set_grant({ open, only });
    if (!opens)
        return;
    // Silence on the channel before, and the pause that follows it, are no guide here.
    for (auto& [raw, p] : d_impl->d_node.peers)
        if (p->turn.silent > 0) {
            d_impl->d_node.modes.policy->on_new_channel(p->addr);
            p->turn.ready_at = std::min(p->turn.ready_at, at);
        }
}
std::optional<address> node::wanted() const { return d_impl->whose_turn().wanted(); }
bool node::active() const { return d_impl->whose_turn().active(); }
unsigned node::unanswered() const
{
    return d_impl->whose_turn().unanswered(d_impl->d_time.now());
}
bool node::joined() const
{
    const auto& peers = d_impl->d_node.peers;
    return std::any_of(peers.begin(), peers.end(), [](auto& e) {
        return e.second->link.made() || e.second->link.breaking();
    });
}
void node::set_emcon(station_time now, bool on)
{
    d_impl->set_emcon(d_impl->d_time.advance(now), on);
}
size_t node::aligned_u_pdu_octets() const { return d_impl->aligned_u_pdu_octets(); }
const node_stats& node::stats() const { return d_impl->d_node.stats; }
node_state node::state() const { return d_impl->state(); }
std::optional<log_record> node::poll_trace() { return d_impl->d_node.log.poll_trace(); }
std::optional<tap_record> node::poll_tap() { return d_impl->d_node.log.poll_tap(); }

} // namespace gr::hf::s5066
