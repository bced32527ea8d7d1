/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/faulty_air.h"

#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/deframer.h"

#include <algorithm>

namespace gr::hf::explore {

using std::chrono::milliseconds;

namespace {

// Longest time in which a station cannot know of another's transmission:
// node_config::carrier_detect_s and the grid of ticks.
constexpr double sense_time_s = 0.65;
// The CRC of a segment, at its end.
constexpr size_t crc_octets = 4;
// After the receivers have reported the end, emulated_modem::rx_latency().
constexpr auto carrier_begins = milliseconds(105);
constexpr auto false_carrier = milliseconds(3000);
// A station that asks again within this time has not waited for anything else.
constexpr double asked_again_s = 10;

} // namespace

s5066::address address_of(size_t station)
{
    return s5066::address("1." + std::to_string(station + 1) + ".0.0");
}

faulty_air::faulty_air(sim::scheduler& time, const schedule& s, size_t stations)
    : d_time(time), d_schedule(s), d_stations(stations), d_air(time)
{
    sim::air_faults f;
    f.loses = [this](uint64_t number, size_t station) { return begins(number, station); };
    f.alter = [this](uint64_t number, size_t first, std::vector<uint8_t>& octets) {
        passes(number, first, octets);
    };
    f.hides_end = [this](uint64_t number) { return has(number, fault_kind::end); };
    f.unread = [this](uint64_t number) { return has(number, fault_kind::unread); };
    f.loses_end = [this](uint64_t number) { return has(number, fault_kind::no_end); };
    d_air.set_faults(std::move(f));
    d_air.on_transmission = [this](const sim::transmission_record& r) { ended(r); };
}

bool faulty_air::has(uint64_t number, fault_kind k, unsigned d_pdu) const
{
    return std::binary_search(d_schedule.begin(),
                              d_schedule.end(),
                              fault{ static_cast<unsigned>(number), k, d_pdu });
}

void faulty_air::happened() { d_last_event = std::max(d_last_event, d_time.now()); }

void faulty_air::in(station_time t, std::function<void()> f)
{
    d_time.at(d_time.now() + t, std::move(f));
}

bool faulty_air::begins(uint64_t number, size_t station)
{
    const bool lost = has(number, fault_kind::lost);
    const bool cut = has(number, fault_kind::restart_sender);
    progress p;
    p.begin = d_time.now();
    p.excused = lost || cut;
    p.unread = has(number, fault_kind::unread);
    const auto restart = d_restarts.find(station);
    p.deaf = restart != d_restarts.end() &&
             to_seconds(p.begin - restart->second) < sense_time_s;
    d_progress.push_back(p);
    d_transmissions.push_back({ station, {} });
    ++d_on_air;
    if (lost || p.unread) {
        happened();
    }
    if (cut) {
        in(milliseconds(1), [this, station] {
            happened();
            on_restart(station, true);
        });
    }
    return lost;
}

void faulty_air::find_d_pdus(uint64_t number)
{
    progress& p = d_progress[number];
    auto& found = d_transmissions[number].d_pdus;
    while (p.next < p.octets.size()) {
        size_t need = 0;
        const auto extent = s5066::check_header(
            p.octets.data() + p.next, p.octets.size() - p.next, need, true);
        if (!extent) {
            return; // not all of the header is there, or only fill follows
        }
        const auto d = static_cast<unsigned>(found.size());
        const auto type = static_cast<s5066::d_pdu_type>(p.octets[p.next + 2] >> 4);
        found.push_back(type);
        if (has(number, fault_kind::header, d)) {
            p.damaged.push_back(p.next + extent->header - 1);
        }
        if (extent->total > extent->header && has(number, fault_kind::segment, d)) {
            p.damaged.push_back(p.next + extent->total - 1 - crc_octets);
        }
        p.headers.push_back(p.next);
        p.next += extent->total;
    }
}

void faulty_air::note_headers(uint64_t number, bool complete)
{
    progress& p = d_progress[number];
    while (!p.headers.empty()) {
        const size_t at = p.headers.front();
        const size_t have = p.octets.size() - at;
        size_t need = 0;
        const auto e = s5066::check_header(p.octets.data() + at, have, need, true);
        const size_t wanted =
            std::min(e->header + 1, e->total); // a C_PDU begins with its type
        if (have < wanted && !complete) {
            return;
        }
        if (const auto d =
                s5066::decode_d_pdu(p.octets.data() + at, std::min(have, wanted), true)) {
            note(p, d_transmissions[number].station, *d);
        }
        p.headers.erase(p.headers.begin());
    }
}

void faulty_air::note(progress& p, size_t from, const s5066::d_pdu& d)
{
    using s5066::c_pdu_type;
    using s5066::d_pdu_type;
    size_t to = 0;
    while (to < d_stations && address_of(to) != d.dst) {
        ++to;
    }
    if (to == d_stations || from >= d_stations) {
        return;
    }
    p.to = p.to.value_or(to);
    auto& [request, count] = d_links[{ from, to }];
    if (d.type == d_pdu_type::reset || d.type == d_pdu_type::large_reset) {
        ++count;
    }
    const auto c = d.type == d_pdu_type::expedited_non_arq_data && !d.segment.empty()
                       ? static_cast<c_pdu_type>(d.segment[0] >> 4)
                       : c_pdu_type::data;
    if (c == c_pdu_type::link_request && request != d.non_arq.c_pdu_id + 1u) {
        request = d.non_arq.c_pdu_id + 1u;
        ++count;
    }
    const bool data = d.type == d_pdu_type::data_only || d.type == d_pdu_type::data_ack ||
                      d.type == d_pdu_type::large_data_only ||
                      d.type == d_pdu_type::large_data_ack;
    if (c == c_pdu_type::link_request || c == c_pdu_type::link_break) {
        p.request = uint32_t(c) << 16 | d.non_arq.c_pdu_id;
    }
    if (data) {
        happened();
    }
    p.asks = p.asks || data || p.request != 0;
}

size_t faulty_air::links_begun(size_t a, size_t b) const
{
    size_t count = 0;
    for (const auto& pair : { std::pair(a, b), std::pair(b, a) }) {
        const auto found = d_links.find(pair);
        count += found == d_links.end() ? 0 : found->second.second;
    }
    return count;
}

void faulty_air::passes(uint64_t number, size_t first, std::vector<uint8_t>& octets)
{
    progress& p = d_progress[number];
    p.octets.insert(p.octets.end(), octets.begin(), octets.end());
    find_d_pdus(number);
    note_headers(number, false);
    for (const size_t at : p.damaged) {
        if (at >= first && at < first + octets.size()) {
            octets[at - first] ^= 0x10;
            happened();
        }
    }
}

void faulty_air::ended(const sim::transmission_record& r)
{
    const auto open =
        std::find_if(d_transmissions.rbegin(),
                     d_transmissions.rend(),
                     [&](const transmission& t) { return t.station == r.station; });
    const auto number = static_cast<uint64_t>(d_transmissions.rend() - open - 1);
    progress& p = d_progress[number];
    p.end = r.end;
    p.m = r.m;
    if (p.over) {
        return; // cut in its last block
    }
    p.over = true;
    note_headers(number, true);
    d_time.at(r.end, [this] { --d_on_air; });
    const auto at_end = [&](std::function<void()> f) {
        d_time.at(r.end + milliseconds(1), [this, f = std::move(f)] {
            happened();
            f();
        });
    };
    const size_t sender = r.station;
    if (has(number, fault_kind::end) || has(number, fault_kind::no_end)) {
        happened();
    }
    if (has(number, fault_kind::restart_other)) {
        at_end([this, sender] { on_restart(sender, false); });
    }
    if (has(number, fault_kind::submit)) {
        at_end([this, sender] { on_submit(sender); });
    }
    if (has(number, fault_kind::carrier) || has(number, fault_kind::stuck)) {
        d_time.at(r.end + carrier_begins, [this, sender] {
            happened();
            on_false_carrier(sender, true);
        });
    }
    if (has(number, fault_kind::carrier)) {
        d_time.at(r.end + false_carrier, [this, sender] {
            happened();
            on_false_carrier(sender, false);
        });
    }
    for (const fault& f : d_schedule) {
        if (f.kind == fault_kind::forged && f.transmission == number) {
            at_end([this, f] { on_forgery(f.transmission, f.d_pdu); });
        }
    }
}

uint16_t faulty_air::next_fsn(uint64_t number) const
{
    uint16_t next = 0;
    s5066::d_pdu_deframer deframer;
    deframer.set_large([](s5066::address, s5066::address) { return true; });
    deframer.push(d_progress[number].octets);
    while (const auto d = deframer.next_at_end()) {
        const bool arq = d->pdu.type == s5066::d_pdu_type::data_only ||
                         d->pdu.type == s5066::d_pdu_type::data_ack ||
                         d->pdu.type == s5066::d_pdu_type::large_data_only ||
                         d->pdu.type == s5066::d_pdu_type::large_data_ack;
        next = arq ? static_cast<uint16_t>(d->pdu.arq.fsn + 1) : next;
    }
    return next;
}

bool faulty_air::can_be_heard(uint64_t number) const
{
    const progress& t = d_progress[number];
    const bool met =
        std::any_of(d_progress.begin(), d_progress.end(), [&](const progress& o) {
            return &o != &t && o.begin < t.end && (o.end > t.begin || !o.over);
        });
    const bool damaged =
        std::any_of(d_schedule.begin(), d_schedule.end(), [&](const fault& f) {
            return f.transmission == number && f.kind == fault_kind::header;
        });
    return t.over && !t.excused && !t.unread && !met && !damaged;
}

silence faulty_air::unanswered(size_t from, size_t to) const
{
    silence s;
    for (size_t n = d_transmissions.size(); n-- > 0;) {
        if (d_transmissions[n].station == to && can_be_heard(n)) {
            break;
        }
        if (d_transmissions[n].station == from) {
            ++s.transmissions;
            s.lasts_s = to_seconds(d_time.now() - d_progress[n].begin);
        }
    }
    return s;
}

// No fault has touched this transmission, nor anything before that could last until now.
bool faulty_air::undisturbed(uint64_t number) const
{
    const station_time begin = d_progress[number].begin;
    const auto touches = [&](const fault& f) {
        constexpr double lasts_s = 15;
        return f.transmission <= number &&
               (f.kind == fault_kind::stuck ||
                to_seconds(begin - d_progress[f.transmission].end) < lasts_s);
    };
    return !d_lossy && can_be_heard(number) &&
           std::none_of(d_schedule.begin(), d_schedule.end(), touches);
}

void faulty_air::missing_answers(std::vector<std::string>& found) const
{
    for (size_t n = 0; n + 1 < d_progress.size(); ++n) {
        const progress &a = d_progress[n], &next = d_progress[n + 1];
        const size_t sender = d_transmissions[n].station,
                     by = d_transmissions[n + 1].station;
        if (!a.asks || !a.to || !undisturbed(n) || sender >= d_stations) {
            continue;
        }
        const double after_s = to_seconds(next.begin - a.end);
        const bool silent = by == sender && after_s < asked_again_s;
        // The same request, though an answer to it could be heard.
        const bool again = a.request != 0 && n + 2 < d_progress.size() && by == *a.to &&
                           undisturbed(n + 1) &&
                           d_transmissions[n + 2].station == sender &&
                           d_progress[n + 2].request == a.request;
        const bool intrudes = by != sender && by != *a.to && after_s < sense_time_s;
        if (silent || again || intrudes) {
            found.push_back("transmission " + std::to_string(n) + " of station " +
                            std::to_string(sender + 1) +
                            (silent  ? " got no answer"
                             : again ? " was answered, but is repeated"
                                     : " was answered by a third one"));
        }
    }
}

std::vector<std::string> faulty_air::violations() const
{
    std::vector<std::string> found;
    overlaps(found);
    missing_answers(found);
    return found;
}

void faulty_air::overlaps(std::vector<std::string>& found) const
{
    for (size_t later = 0; later < d_progress.size(); ++later) {
        for (size_t k = 0; k < later; ++k) {
            const progress &a = d_progress[k], &b = d_progress[later];
            const double after_s = to_seconds(b.begin - a.begin);
            const bool lawful = d_transmissions[later].station < d_stations;
            if (lawful && !a.excused && !b.deaf && b.begin < a.end &&
                after_s > sense_time_s) {
                found.push_back("transmission " + std::to_string(later) + " begins " +
                                std::to_string(after_s) + " s after " +
                                std::to_string(k) + ", which is still on the air");
            }
        }
    }
}

} // namespace gr::hf::explore
