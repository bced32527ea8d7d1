/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/fixed_rate.h"

#include "s5066/rate/block_errors.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_stations = 256;
// An acknowledgement and the heads of D_PDUs beside the octets of a message.
constexpr size_t beside_octets = 60;
// Carrier detectors notice a call of this length that meets others, s.
constexpr double noticed_s = 0.7;
// Messages that wait at most after failures of shorter interleavers.
constexpr unsigned max_wait = 64;
// Acknowledgements lost in a row until the next ones are slower. One may have met another call.
constexpr unsigned fall_after = 2;
// Acknowledgements heard at the far side until a faster mode is tried. If none gets through
// there, this loses two of 18, and a turn with a lost one takes a tenth longer.
constexpr unsigned climb_after = 16;
// Octets of a usual data D_PDU.
constexpr size_t data_octets = 250;
// If more than this share is lost beyond what noise alone explains, the channel fades.
constexpr double surprising_loss = 0.03;
// Weight of the last reception in the average of the losses.
constexpr double latest = 0.25;
// With a higher loss the tries are given up.
constexpr double max_loss = 0.95;

const char* const steady = "awgn";
const char* const faded = "poor";

} // namespace

const char* to_string(mode_reason r)
{
    switch (r) {
    case mode_reason::setting:
        return "it is set";
    case mode_reason::nothing_known:
        return "nothing is known yet";
    case mode_reason::own_estimate:
        return "best by what was heard";
    case mode_reason::advice:
        return "the peer advises it";
    case mode_reason::advice_fails:
        return "what the peer advises fails";
    case mode_reason::silence:
        return "the peer did not answer";
    case mode_reason::soonest:
        return "soonest for so little";
    }
    return "";
}

mode default_ack_mode(const mode& data)
{
    mode m = data;
    const auto exists = [&m] {
        const auto& modes = mode::all();
        return std::find(modes.begin(), modes.end(), m) != modes.end();
    };
    const auto first = kernel::family_of(data).link.shortest;
    for (const auto il :
         { first, interleaver::very_short, interleaver::short_, interleaver::none }) {
        m.il = il;
        if (exists())
            return m;
    }
    return data;
}

std::vector<mode> slower_acks(const mode& data)
{
    const auto standard = [](const mode& m) {
        return std::string_view(kernel::family_of(m).standard);
    };
    auto all = mode::all();
    std::stable_sort(
        all.begin(), all.end(), [](auto& a, auto& b) { return a.rate_bps > b.rate_bps; });
    std::vector<mode> list;
    int limit = data.rate_bps / 2;
    for (const mode& m : all)
        if (m.rate_bps <= limit && m.bandwidth_hz == data.bandwidth_hz &&
            standard(m) == standard(data) && m.reading == data.reading &&
            m.constraint_length == data.constraint_length && m.il != interleaver::none &&
            m == default_ack_mode(m)) {
            list.push_back(m);
            limit = m.rate_bps / 2;
        }
    return list;
}

std::vector<mode> shorter_interleavers(const mode& data)
{
    const auto block_s = [](const mode& m) {
        const auto t = kernel::timing_of(m);
        return to_seconds(t.block_end(0) - t.block_begin(0));
    };
    std::vector<mode> list;
    for (mode m : mode::all()) {
        const auto il = std::exchange(m.il, data.il);
        const bool same = m == data;
        m.il = il;
        if (same && il != interleaver::zero && block_s(m) < block_s(data))
            list.push_back(m);
    }
    return list;
}

fixed_rate_policy::fixed_rate_policy(const mode& data,
                                     std::vector<mode> acks,
                                     std::vector<mode> messages,
                                     double lost_ack_s,
                                     std::vector<mode> slower)
    : d_data(data), d_acks(std::move(acks)), d_messages(std::move(messages)),
      d_slower(std::move(slower)), d_call(d_acks.front()), d_lost_ack_s(lost_ack_s)
{
    const auto length_s = [](const mode& m) {
        return to_seconds(kernel::timing_of(m).block_end(0));
    };
    auto others = d_messages;
    others.push_back(d_data);
    for (const mode& m : others)
        if (length_s(d_call) < noticed_s ||
            (length_s(m) >= noticed_s && length_s(m) < length_s(d_call)))
            d_call = m;
}

double fixed_rate_policy::cost_s(const message& what,
                                 const mode& m,
                                 const std::string& channel,
                                 double snr_db,
                                 double lost_s)
{
    const double loss = std::min(
        measured_block_errors(channel).at(m, snr_db).loss(what.octets, what.copies),
        max_loss);
    const double own_s =
        to_seconds(kernel::timing_of(m).duration(what.copies * what.octets));
    return own_s + loss / (1 - loss) * (lost_s + own_s);
}

const char* fixed_rate_policy::channel_of(const station& s) const
{
    return s.in.fading() || s.surprise_loss > surprising_loss ? faded : steady;
}

mode fixed_rate_policy::cheapest(const station& s,
                                 const message& what,
                                 std::vector<mode> modes) const
{
    const auto cost = [&](const mode& m) {
        return cost_s(what, m, channel_of(s), s.in.mean_db(), d_lost_ack_s);
    };
    return *std::min_element(
        modes.begin(), modes.end(), [&](auto& a, auto& b) { return cost(a) < cost(b); });
}

mode fixed_rate_policy::message_mode(station& s, const tx_context& c) const
{
    const size_t octets = c.backlog_octets + beside_octets;
    if (d_messages.empty() || !s.in.known() || c.silent_rounds > 0 ||
        c.backlog_octets == 0 || octets > kernel::timing_of(d_data).octets_in(1))
        return d_data;
    if (s.waits_left > 0) {
        --s.waits_left;
        return d_data;
    }
    auto modes = d_messages;
    modes.push_back(d_data);
    return cheapest(s, { octets, 1 }, std::move(modes));
}

mode fixed_rate_policy::choose(station_time, const tx_context& c)
{
    d_why = mode_reason::setting;
    const auto it = d_stations.find(c.peer.raw());
    if (it == d_stations.end())
        return !c.ack_only ? d_data : d_stations.empty() ? d_call : d_acks.front();
    station& s = it->second;
    s.answered = c.ack_only;
    if (c.ack_only && s.fallen > 0) {
        d_why = mode_reason::silence;
        return d_slower[s.fallen - 1];
    }
    if (c.ack_only)
        return d_acks.size() == 1 ? d_acks.front() : cheapest(s, acknowledgement, d_acks);
    const mode m = message_mode(s, c);
    s.sent_shorter.reset();
    if (m != d_data) {
        s.sent_shorter = m;
        d_why = mode_reason::soonest;
    }
    return m;
}

void fixed_rate_policy::on_frames(station_time, address peer, const sent_data& d)
{
    const auto it = d_stations.find(peer.raw());
    if (it != d_stations.end() && d.m != d_data && d.lost < d.sent)
        it->second.wait = 1;
}

void fixed_rate_policy::on_silence(station_time, address peer)
{
    const auto it = d_stations.find(peer.raw());
    if (it == d_stations.end() || !std::exchange(it->second.sent_shorter, std::nullopt))
        return;
    station& s = it->second;
    s.waits_left = s.wait;
    s.wait = std::min(2 * s.wait, max_wait);
}

void fixed_rate_policy::note_answer(station& s, bool lost) const
{
    s.heard_there = lost ? 0 : s.heard_there + 1;
    s.lost_there = lost ? s.lost_there + 1 : 0;
    if (s.lost_there >= fall_after)
        s.fallen = std::min(s.fallen + 1, d_slower.size());
    else if (s.fallen > 0 && s.heard_there >= climb_after)
        --s.fallen;
    else
        return;
    s.heard_there = s.lost_there = 0;
}

void fixed_rate_policy::on_reception(station_time, address peer, const reception& r)
{
    if (!r.read || r.block_snr_db.empty() ||
        (d_stations.size() >= max_stations && d_stations.count(peer.raw()) == 0))
        return;
    station& s = d_stations[peer.raw()];
    if (std::exchange(s.answered, false))
        note_answer(s, r.again);
    s.in.on_blocks(r.m, r.block_snr_db);
    const auto& curves = measured_block_errors(steady);
    if (curves.has(r.m)) {
        const double expected = curves.at(r.m, s.in.mean_db()).loss(data_octets);
        const double surprise = std::max(1 - r.good_share - expected, 0.0);
        s.surprise_loss += latest * (surprise - s.surprise_loss);
    }
}

} // namespace gr::hf::s5066
