/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/mode_promise.h"

#include "s5066/rate/block_errors.h"
#include "s5066/rate/rate_policy.h"
#include "s5066/words/max_eot.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gr::hf::s5066 {

const std::array<channel_class, channel_classes> known_channels = { {
    { "awgn", 0, 0 },
    { "moderate", 0.1, 0.5 },
    { "moderate", 0.5, 0.5 },
    { "poor", 1, 1 },
    { "high-moderate", 10, 10 },
} };

namespace {

constexpr double lowest_db = -20, highest_db = 45, step_db = 0.5;
constexpr size_t steps = static_cast<size_t>((highest_db - lowest_db) / step_db) + 1;
// Header of a data D_PDU with usual addresses, and the CRC of its segment (C.3.2).
constexpr double header_octets = 20;
// Both turnarounds and the decoding time of the modems.
constexpr double turnarounds_s = 0.4;
// Goodput counts what a transfer of this duration has delivered in order: data behind a
// gap at its end have arrived in vain. Poor and Moderate at 0 dB, 600 s of seeds 1 to 4:
// 463 and 408 bit/s, 456 and 436 with 600 s; but 24 h on Poor 5023 and 4938 bit/s, on
// Moderate 6035 and 5984.
constexpr double transfer_s = 1800;
// Lower limit: where nearly nothing arrives the wait has no end.
constexpr double min_success = 0.01;
constexpr double pi = 3.14159265358979323846;

/* Blocks are unequal: many have few bursts of errors, some are all noise. The number of
 * bursts in a block is modelled as Poisson with a gamma-distributed mean. The table gives
 * that mean on average and the share of blocks without bursts, and only one shape fits
 * both. It is small where few blocks are bad and those are noise. It is large where each
 * block is bad with a few errors.
 */
double shape_of(double bursts, double bad)
{
    // A few dozen blocks that are all bad do not exclude a good one. Beyond these limits
    // no table tells shapes apart.
    constexpr double max_bad = 0.995, least = 1e-4, most = 100;
    const double wanted = -std::log(1 - std::min(bad, max_bad));
    double low = least, high = most;
    for (int i = 0; i < 40; ++i) {
        const double k = std::sqrt(low * high);
        (k * std::log1p(bursts / k) < wanted ? low : high) = k;
    }
    return std::sqrt(low * high);
}

// Computed once for each mode: every table asks it of the modes of its answers.
double power_db_of(const mode& m)
{
    static std::mutex guard;
    static std::map<std::string, double> known_db;
    const std::lock_guard<std::mutex> lock(guard);
    const auto [found, fresh] = known_db.try_emplace(m.to_string());
    if (fresh)
        found->second = 10 * std::log10(kernel::mean_power(m));
    return found->second;
}

/* Rounds that data wait until all fresh D_PDUs of their transmission up to their own have
 * arrived, on average: the largest of as many geometrically distributed numbers, less 1.
 */
double rounds_behind_gaps(double fresh, double lost)
{
    constexpr double euler = 0.5772, many = 0.5, least = 1e-3;
    const double q = std::clamp(lost, 1e-6, 1 - min_success), n = std::max(fresh, 1.0);
    if (q > many) { // the sum below would be long
        const double harmonic = (1 + 1 / n) * (std::log(n) + euler) - 1;
        return std::max(harmonic / -std::log(q) - 0.5, q / (1 - q));
    }
    double rounds = 0;
    for (double left = q, late = 1; late > least; left *= q) {
        const double arrived = 1 - left; // each of them after so many rounds
        late = 1 - arrived * (1 - std::pow(arrived, n)) / (n * left);
        rounds += late;
    }
    return rounds;
}

/* Modes of answers to data in one mode, and what they cost. An answer that does not arrive
 * costs a wait and a question. So where few blocks arrive, long transmissions gain.
 */
class answers
{
public:
    explicit answers(const mode& data)
    {
        auto modes = slower_acks(data);
        modes.insert(modes.begin(), default_ack_mode(data));
        for (const mode& m : modes)
            d_all.push_back({ m,
                              to_seconds(kernel::timing_of(m).duration(ack_octets)),
                              power_db_of(m) - power_db_of(data) });
    }
    // Time until an answer has arrived, s, at an SNR of the data.
    double seconds(const block_error_curves& curves, double snr_db) const
    {
        double least = 1e9;
        for (const auto& a : d_all) {
            const double lost = curves.at(a.m, snr_db + a.power_db).loss(ack_octets);
            least = std::min(least,
                             (a.seconds + lost * lost_answer_s) /
                                 std::max(1 - lost, min_success));
        }
        return least;
    }

private:
    struct answer {
        mode m;
        double seconds, power_db;
    };
    std::vector<answer> d_all;
};

/* Block errors of ITU-R Good by those of Moderate. A fade of Good lasts some 6 s, so a block
 * of the long interleaver meets fewer of them than on Moderate, and more than a short one
 * there. Its errors lie between, by the logarithm of that number. A short block of Good is
 * like one of Moderate.
 */
class errors_between
{
public:
    errors_between(const channel_class& c, const mode& m)
        : d_curves(measured_block_errors(c.curves)), d_mode(m), d_short(m)
    {
        if (c.doppler_hz == c.curves_hz || m.il != interleaver::long_)
            return;
        d_short.il = interleaver::short_;
        const channel_class measured{ c.curves, c.curves_hz, c.curves_hz };
        const double least = measured.fades_in(block_s(d_short)),
                     most = measured.fades_in(block_s(m)), here = c.fades_in(block_s(m));
        d_share = std::clamp(std::log(here / least) / std::log(most / least), 0.0, 1.0);
    }

    block_error_point at(double snr_db) const
    {
        auto p = d_curves.at(d_mode, snr_db);
        if (d_share == 1)
            return p;
        const auto s = d_curves.at(d_short, snr_db);
        const double bad = d_share * p.bad + (1 - d_share) * s.bad;
        if (bad > 0)
            p.ber_of_bad =
                (d_share * p.bad * p.ber_of_bad + (1 - d_share) * s.bad * s.ber_of_bad) /
                bad;
        p.bad = bad;
        p.lost = d_share * p.lost + (1 - d_share) * s.lost;
        return p;
    }

private:
    static double block_s(const mode& m)
    {
        const auto t = kernel::timing_of(m);
        return to_seconds(t.block_end(0) - t.block_begin(0));
    }

    const block_error_curves& d_curves;
    const mode d_mode;
    mode d_short;       // the same with the short interleaver
    double d_share = 1; // of the errors of d_mode, the rest are those of d_short
};

} // namespace

double windowed_transmission_s(double d_pdu_s, double lost, unsigned window)
{
    constexpr double euler = 0.5772, max_lost = 0.99;
    const double q = std::clamp(lost, 1e-6, max_lost);
    double fresh = window;
    for (int i = 0; i < 8; ++i) {
        const double rounds =
            0.5 + (std::log(std::max(fresh, 1.0)) + euler) / -std::log(q);
        fresh = window / std::max(rounds, 1.0);
    }
    return std::min(max_eot_s, std::min(fresh / (1 - q), double(window)) * d_pdu_s);
}

double doppler_error_hz(double doppler_hz, double seconds)
{
    return doppler_hz * 0.3 * std::pow(doppler_hz * seconds, -0.75);
}

double channel_class::fades_in(double seconds) const
{
    return 1 + std::sqrt(pi) * doppler_hz * seconds;
}

mode_promises::mode_promises(const mode& m, unsigned window)
    : d_needed_db(measured_block_errors(known_channels[0].curves)
                      .needed_db(m)
                      .value_or(highest_db)),
      d_power_db(power_db_of(m))
{
    const auto t = kernel::timing_of(m);
    d_block_s = to_seconds(t.block_end(0) - t.block_begin(0));
    d_block_octets = static_cast<double>(t.bits_per_block) / 8;
    const double turn_there =
        turnarounds_s + to_seconds(t.block_begin(0)) + d_block_s / 2;
    const answers back(m);
    for (size_t c = 0; c < channel_classes; ++c) {
        const auto& channel = known_channels[c];
        const auto& curves = measured_block_errors(channel.curves);
        const errors_between errors(channel, m);
        for (size_t k = 0; k < steps; ++k) {
            const double snr_db = lowest_db + step_db * static_cast<double>(k);
            const auto point = errors.at(snr_db);
            const double turn = turn_there + back.seconds(curves, snr_db);
            promise p;
            p.block_success = (1 - point.lost) * (1 - point.bad);
            p.lost = point.lost;
            p.bursts =
                8 * d_block_octets * point.bad * 2 * point.ber_of_bad / point.burst_bits;
            p.shape = shape_of(p.bursts, point.bad);
            for (size_t i = 0; i < tried_segments.size(); ++i) {
                const auto segment = static_cast<double>(tried_segments[i]);
                const double octets = segment + header_octets;
                const double success = d_pdu_success(channel, p, octets);
                const double s =
                    windowed_transmission_s(8 * octets / m.rate_bps, 1 - success, window);
                const double fresh = s * success * m.rate_bps / (8 * octets);
                const double waits_s =
                    (s + turn) * rounds_behind_gaps(fresh, 1 - success);
                p.goodput_bps[i] = success * segment / octets * m.rate_bps * s /
                                   (s + turn) / (1 + waits_s / transfer_s);
            }
            d_table[c].push_back(p);
        }
    }
}

double mode_promises::d_pdu_success(const channel_class& c,
                                    const promise& p,
                                    double octets) const
{
    // Blocks that the D_PDU touches. Those in the same fade count as one.
    const double touched = 1 + (octets - 1) / d_block_octets;
    const double apart =
        c.doppler_hz > 0 ? std::min(1.0, c.fades_in(d_block_s) - 1) : 1.0;
    const double tries = 1 + (touched - 1) * apart;
    const double bursts = p.bursts * octets / touched / d_block_octets;
    return (1 - p.lost) * std::pow(1 + bursts / p.shape, -p.shape * tries);
}

double mode_promises::d_pdu_success(size_t c, double snr_db, double octets) const
{
    return d_pdu_success(known_channels[c], at(c, snr_db), octets);
}

const mode_promises& mode_promises::of(const mode& m, unsigned window)
{
    static std::mutex guard;
    static std::map<std::pair<std::string, unsigned>,
                    std::unique_ptr<const mode_promises>>
        all;
    const std::lock_guard<std::mutex> lock(guard);
    auto& p = all[{ m.to_string(), window }];
    if (!p)
        p.reset(new mode_promises(m, window));
    return *p;
}

const promise& mode_promises::at(size_t c, double snr_db) const
{
    const double k = std::round((snr_db - lowest_db) / step_db);
    return d_table[c][static_cast<size_t>(std::clamp(k, 0.0, double(steps - 1)))];
}

} // namespace gr::hf::s5066
