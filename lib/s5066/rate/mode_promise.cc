/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/mode_promise.h"

#include "s5066/rate/block_errors.h"
#include "s5066/rate/rate_policy.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gr::hf::s5066 {

/* The curves of ITU-R Good are those of Moderate with the short interleaver: a fade of Good lasts
 * some 6 s, more than either interleaver, so that it hits a block as one of Moderate hits a short
 * one. */
const std::array<channel_class, channel_classes> known_channels = { {
    { "awgn", 0, false },
    { "moderate", 0.1, true },
    { "moderate", 0.5, false },
    { "poor", 1, false },
    { "high-moderate", 10, false },
} };

namespace {

constexpr double lowest_db = -20, highest_db = 45, step_db = 0.5;
constexpr size_t steps = static_cast<size_t>((highest_db - lowest_db) / step_db) + 1;
constexpr double longest_transmission_s = 127.5;
// Header of a data D_PDU with usual addresses, CRC of its segment (C.3.2).
constexpr double header_octets = 20;
// Segments that are tried for the best; the last one is the longest (C.3.2.10).
constexpr std::array<double, 6> segments = { 48, 96, 192, 384, 700, 1023 };
// An answer: an ACK with some selective acknowledgements; both turnarounds and what the modems take
// to decode.
constexpr size_t ack_octets = 60;
constexpr double turnarounds_s = 0.4;
// Bad blocks are unequal: many have few errors, some are all noise, and the table has the mean. Their
// bit error rates are taken to have a gamma distribution of this shape. With it 4800L on Moderate and
// Poor at 12 dB promises what `hf bench adaptive` measured of it at 10 dB (fixed, seed 1: 3567 and 3785
// bit/s); equal blocks would promise 2900.
constexpr double unequal = 0.3;
constexpr double pi = 3.14159265358979323846;

struct shape {
    double rate_bps, block_s, block_octets, of_time;
};

shape shape_of(const mode& m)
{
    const auto t = kernel::timing_of(m);
    const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
    const double turn_s =
        turnarounds_s + to_seconds(t.block_begin(0)) + block_s / 2 +
        to_seconds(kernel::timing_of(default_ack_mode(m)).duration(ack_octets));
    return { double(m.rate_bps),
             block_s,
             static_cast<double>(t.bits_per_block) / 8,
             longest_transmission_s / (longest_transmission_s + turn_s) };
}

promise promise_at(const channel_class& c, const shape& s, const block_error_point& p)
{
    promise r;
    r.block_success = (1 - p.lost) * (1 - p.bad);
    double best = 0;
    for (const double segment : segments) {
        const double octets = segment + header_octets;
        // A D_PDU touches so many blocks; of those in one fade one counts.
        const double touched = 1 + (octets - 1) / s.block_octets;
        const double apart =
            c.doppler_hz > 0 ? std::min(1.0, c.fades_in(s.block_s) - 1) : 1.0;
        const double tries = 1 + (touched - 1) * apart;
        const double bursts = 8 * octets / touched * 2 * p.ber_of_bad / error_burst_bits;
        const double hit = p.bad * (1 - std::pow(1 + bursts / unequal, -unequal));
        const double success = (1 - p.lost) * std::pow(1 - hit, tries);
        if (success * segment / octets > best) {
            best = success * segment / octets;
            r.d_pdu_success = success;
        }
    }
    r.goodput_bps = best * s.rate_bps * s.of_time;
    return r;
}

} // namespace

double channel_class::fades_in(double seconds) const
{
    return 1 + std::sqrt(pi) * doppler_hz * seconds;
}

mode_promises::mode_promises(const mode& m)
    : d_needed_db(measured_block_errors(known_channels[0].curves)
                      .needed_db(m)
                      .value_or(highest_db)),
      d_power_db(10 * std::log10(kernel::mean_power(m)))
{
    const shape s = shape_of(m);
    for (size_t c = 0; c < channel_classes; ++c) {
        const auto& channel = known_channels[c];
        const auto& curves = measured_block_errors(channel.curves);
        mode measured = m;
        if (channel.slower_than_long && m.il == interleaver::long_) {
            measured.il = interleaver::short_;
        }
        for (size_t k = 0; k < steps; ++k) {
            const double db = lowest_db + step_db * static_cast<double>(k);
            d_table[c].push_back(promise_at(channel, s, curves.at(measured, db)));
        }
    }
}

const mode_promises& mode_promises::of(const mode& m)
{
    static std::mutex guard;
    static std::map<std::string, std::unique_ptr<const mode_promises>> all;
    const std::lock_guard<std::mutex> lock(guard);
    auto& p = all[m.to_string()];
    if (!p) {
        p.reset(new mode_promises(m));
    }
    return *p;
}

const promise& mode_promises::at(size_t c, double snr_db) const
{
    const double k = std::round((snr_db - lowest_db) / step_db);
    return d_table[c][static_cast<size_t>(std::clamp(k, 0.0, double(steps - 1)))];
}

} // namespace gr::hf::s5066
