/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/air/emulated_air.h"

#include "sim/air/emulated_modem.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::sim {

namespace {
constexpr double min_carrier_db = -4; // threshold of the carrier detector, in the
                                      // mode's bandwidth
} // namespace

size_t emulated_air::join(emulated_modem* m, std::optional<size_t> id)
{
    d_modems.push_back(m);
    const size_t number = id.value_or(d_next_id);
    d_next_id = std::max(d_next_id, number + 1);
    return number;
}

void emulated_air::set_path(const emulated_modem& from,
                            const emulated_modem& to,
                            const air_path& p)
{
    d_paths[{ from.id(), to.id() }] = p;
}

void emulated_air::disturb(std::optional<size_t> from,
                           std::optional<size_t> to,
                           station_time begin,
                           station_time end)
{
    d_disturbances.push_back({ from, to, begin, end });
}

void emulated_air::leave(emulated_modem* m)
{
    d_modems.erase(std::remove(d_modems.begin(), d_modems.end(), m), d_modems.end());
    const station_time now = d_scheduler.now();
    for (auto& s : d_signals) {
        if (s->from == m->id() && (!s->end || *s->end > now)) {
            // Switched off while sending. Receivers notice that the signal is lost.
            s->end = now;
            over(*s, true);
            for (emulated_modem* to : d_modems) {
                d_scheduler.at(
                    now + std::chrono::milliseconds(500),
                    to->guarded([s, to, now] { to->signal_over(s, now, false); }));
                d_scheduler.at(now + to->d_config.carrier_release,
                               to->guarded([to] { to->sense(); }));
            }
        }
    }
}

void emulated_air::over(const signal& s, bool cut)
{
    if (on_transmission)
        on_transmission({ s.from, s.m, s.begin, *s.end, s.octets.size(), cut });
}

const air_path& emulated_air::path_between(size_t from, size_t to) const
{
    const auto it = d_paths.find({ from, to });
    return it == d_paths.end() ? d_default : it->second;
}

bool emulated_air::meet(size_t a, size_t b) const
{
    const auto hears = [this](size_t from, size_t at) {
        return from == at || path_between(from, at).loss < 1;
    };
    return std::any_of(d_modems.begin(), d_modems.end(), [&](const emulated_modem* m) {
        return hears(a, m->id()) && hears(b, m->id());
    });
}

emulated_air::signal_ptr emulated_air::begin(emulated_modem* from, const mode& m)
{
    forget_old();
    auto s = std::make_shared<signal>();
    s->id = d_count++;
    s->from = from->id();
    s->m = m;
    s->timing = kernel::timing_of(m);
    s->begin = d_scheduler.now();
    for (const auto& o : d_signals)
        d_collisions += (!o->end || *o->end > s->begin) && meet(s->from, o->from) ? 1 : 0;
    d_signals.push_back(s);
    const bool unheard = d_faults.loses && d_faults.loses(s->id, s->from);
    const bool unread = d_faults.unread && d_faults.unread(s->id);
    for (emulated_modem* to : d_modems) {
        if (to == from)
            continue;
        const air_path& p = path_between(from->id(), to->id());
        const uint64_t n = d_numbers[{ from->id(), to->id() }]++;
        const station_time sent = s->begin + s->timing.block_begin(0);
        const station_time over = sent + p.delay;
        const bool dropped = unheard || (p.drop && p.drop(n));
        if (dropped)
            s->dropped_at.push_back(to->id());
        const bool lost = dropped || unread || (p.loss > 0 && uniform() < p.loss) ||
                          (p.blocks && uniform() < p.blocks->at(m, p.snr_db).lost) ||
                          (p.fading && !p.fading->preamble_heard(s->begin, over, m));
        const double snr_db = p.fading ? p.fading->mean_db(s->begin, over, m) : p.snr_db;
        d_scheduler.at(over + to->rx_latency(m),
                       to->guarded([this, s, to, lost, sent, over, snr_db] {
                           const bool clear = !disturbed(*s, to->id(), s->begin, over);
                           const bool whole = !s->end || *s->end >= sent;
                           to->preamble_over(s, !lost && clear && whole, snr_db);
                       }));
        if (to->d_config.carrier_delay) {
            d_scheduler.at(s->begin + p.delay + *to->d_config.carrier_delay,
                           to->guarded([to] { to->sense(); }));
        }
    }
    return s;
}

bool emulated_air::audible(const emulated_modem& m) const
{
    const station_time now = d_scheduler.now();
    const station_time delay = *m.d_config.carrier_delay;
    return std::any_of(d_signals.begin(), d_signals.end(), [&](const signal_ptr& s) {
        const air_path& p = path_between(s->from, m.id());
        const station_time from = std::max(s->begin + p.delay, m.d_listening_since);
        const station_time end = s->end ? std::min(*s->end + p.delay, now) : now;
        const auto missing = [&](size_t at) { return at == m.id(); };
        const double snr_db =
            p.fading ? p.fading->mean_db(now - delay, now, s->m) : p.snr_db;
        const auto deaf = [&](const disturbance& d) {
            return (!d.from || *d.from == s->from) && (!d.to || *d.to == m.id()) &&
                   d.begin < now && d.end > now - delay;
        };
        return s->from != m.id() && end - from >= delay &&
               end + m.d_config.carrier_release > now && snr_db > min_carrier_db &&
               p.loss < 1 &&
               std::none_of(s->dropped_at.begin(), s->dropped_at.end(), missing) &&
               std::none_of(d_disturbances.begin(), d_disturbances.end(), deaf);
    });
}

bool emulated_air::disturbed(const signal& s,
                             size_t at,
                             station_time a,
                             station_time b) const
{
    // A station's own transmissions disturb reception like any other signal. Differences
    // in propagation are far shorter than a preamble and left out here.
    const bool collided =
        std::any_of(d_signals.begin(), d_signals.end(), [&](const signal_ptr& o) {
            return o->id != s.id && o->begin < b && (!o->end || *o->end > a) &&
                   (o->from == at || path_between(o->from, at).loss < 1);
        });
    constexpr double most = 0.1; // share that interleaving and code can do without
    return collided ||
           std::any_of(
               d_disturbances.begin(), d_disturbances.end(), [&](const disturbance& d) {
                   return (!d.from || *d.from == s.from) && (!d.to || *d.to == at) &&
                          to_seconds(std::min(d.end, b) - std::max(d.begin, a)) >
                              most * to_seconds(b - a);
               });
}

double emulated_air::block_ber(const air_path& p,
                               const signal& s,
                               station_time a,
                               station_time b)
{
    if (p.fading || p.blocks) {
        const auto point =
            p.fading ? p.fading->block(a, b, s.m) : p.blocks->at(s.m, p.snr_db);
        return uniform() < point.bad ? point.ber_of_bad : 0;
    }
    return p.ber;
}

// The end of message has 32 bits, which can be wrong like all others.
bool emulated_air::end_heard(const signal& s, const air_path& p, double ber)
{
    const bool coded = p.fading || p.blocks;
    return !(d_faults.hides_end && d_faults.hides_end(s.id)) &&
           !(p.eom_loss > 0 && uniform() < p.eom_loss) &&
           !(coded && uniform() < 1 - std::exp(-32 * ber));
}

void emulated_air::block(const signal_ptr& s,
                         size_t k,
                         std::vector<uint8_t> octets,
                         bool last)
{
    s->octets.insert(s->octets.end(), octets.begin(), octets.end());
    // A receiver has whole octets only up to the end of the block.
    const size_t bits = (k + 1) * s->timing.bits_per_block;
    const size_t until = last ? s->octets.size() : std::min(bits / 8, s->octets.size());
    std::vector<uint8_t> out(s->octets.begin() +
                                 static_cast<std::ptrdiff_t>(s->sent_octets),
                             s->octets.begin() + static_cast<std::ptrdiff_t>(until));
    if (d_faults.alter)
        d_faults.alter(s->id, s->sent_octets, out);
    s->sent_octets = until;
    const uint64_t number = s->given_blocks;
    s->given_blocks += out.empty() ? 0 : 1;
    const station_time from = s->begin + s->timing.block_begin(k);
    const station_time end = s->begin + s->timing.block_end(k);
    for (emulated_modem* to : d_modems) {
        if (to->id() == s->from)
            continue;
        const air_path p = path_between(s->from, to->id());
        const station_time at = end + p.delay + to->rx_latency(s->m);
        d_scheduler.at(
            at, to->guarded([this, s, to, p, out, number, from, end, last]() mutable {
                const bool noise = disturbed(*s, to->id(), from, end);
                const bool coded = p.fading || p.blocks;
                const double ber = block_ber(p, *s, from, end);
                add_errors(out,
                           noise ? 0.5 : ber,
                           coded && !noise ? s5066::error_burst_bits(s->m) : 1);
                rx_octets e;
                e.octets = std::move(out);
                e.number = number;
                e.snr_db = p.fading ? p.fading->mean_db(from, end, s->m) : p.snr_db;
                if (p.fading)
                    e.doppler_hz = p.fading->doppler_hz(from, end, d_readings);
                const bool again = p.duplicate > 0 && uniform() < p.duplicate;
                const bool late = !last && p.reorder > 0 && uniform() < p.reorder;
                to->block_over(s, e, late);
                if (again)
                    to->block_over(s, e, false);
                if (last && d_faults.loses_end && d_faults.loses_end(s->id)) {
                    to->signal_forgotten(s);
                } else if (last) {
                    const bool eom = !noise && end_heard(*s, p, ber);
                    to->signal_over(s, end + p.delay, eom);
                }
            }));
        if (last) {
            d_scheduler.at(end + p.delay + to->d_config.carrier_release,
                           to->guarded([to] { to->sense(); }));
        }
    }
    if (last)
        over(*s, false);
}

void emulated_air::add_errors(std::vector<uint8_t>& octets, double ber, double burst)
{
    if (ber <= 0)
        return;
    // Distances between errors of independent bits, or of bursts, are geometric.
    const double events = burst > 1 ? std::min(2 * ber / burst, 0.5) : ber;
    const double scale = std::log1p(-std::min(events, 0.999999));
    const double bits = 8.0 * static_cast<double>(octets.size());
    double at = std::floor(std::log(1 - uniform()) / scale);
    while (at < bits) {
        const auto b = static_cast<size_t>(at);
        octets[b / 8] ^= static_cast<uint8_t>(1 << (b % 8));
        const auto end = std::min(at + burst, bits);
        for (size_t i = b + 1; i < static_cast<size_t>(end); ++i)
            octets[i / 8] ^= static_cast<uint8_t>((d_random() & 1) << (i % 8));
        at += burst + std::floor(std::log(1 - uniform()) / scale);
    }
}

void emulated_air::forget_old()
{
    const station_time old = d_scheduler.now() - std::chrono::seconds(60);
    while (!d_signals.empty() && d_signals.front()->end && *d_signals.front()->end < old)
        d_signals.pop_front();
}

} // namespace gr::hf::sim
