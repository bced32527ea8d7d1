/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/fixed_rate.h"

#include "s5066/rate/block_errors.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_stations = 256;
// An ACK-ONLY D_PDU with a few octets of selective acknowledgement, and its number of
// copies.
constexpr size_t ack_octets = 24;
constexpr unsigned copies = 2;
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
        if (exists()) {
            return m;
        }
    }
    return data;
}

double fixed_rate_policy::cost_s(const mode& m,
                                 const std::string& channel,
                                 double snr_db,
                                 double lost_ack_s)
{
    const double loss = std::min(
        measured_block_errors(channel).at(m, snr_db).loss(ack_octets, copies), max_loss);
    const double own_s = to_seconds(kernel::timing_of(m).duration(copies * ack_octets));
    return own_s + loss / (1 - loss) * (lost_ack_s + own_s);
}

const char* fixed_rate_policy::channel_of(const station& s) const
{
    return s.in.fading() || s.surprise_loss > surprising_loss ? faded : steady;
}

mode fixed_rate_policy::choose(station_time, const tx_context& c)
{
    if (!c.ack_only) {
        return d_data;
    }
    const auto it = d_stations.find(c.peer.raw());
    if (d_acks.size() == 1 || it == d_stations.end()) {
        return d_acks.front();
    }
    const station& s = it->second;
    const auto cost = [&](const mode& m) {
        return cost_s(m, channel_of(s), s.in.mean_db(), d_lost_ack_s);
    };
    return *std::min_element(d_acks.begin(), d_acks.end(), [&](auto& a, auto& b) {
        return cost(a) < cost(b);
    });
}

void fixed_rate_policy::on_reception(station_time, address peer, const reception& r)
{
    if (!r.read || r.block_snr_db.empty() ||
        (d_stations.size() >= max_stations && d_stations.count(peer.raw()) == 0)) {
        return;
    }
    station& s = d_stations[peer.raw()];
    s.in.on_blocks(r.m, r.block_snr_db);
    const auto& curves = measured_block_errors(steady);
    if (curves.has(r.m)) {
        const double expected = curves.at(r.m, s.in.mean_db()).loss(data_octets);
        const double surprise = std::max(1 - r.good_share - expected, 0.0);
        s.surprise_loss += latest * (surprise - s.surprise_loss);
    }
}

} // namespace gr::hf::s5066
