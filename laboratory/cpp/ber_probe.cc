/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bit errors of the receiver:
 *     ber_probe MODE CHANNEL SECONDS [SEED [BURSTS [EFFORT [LEAD]]]]
 * CHANNEL is a channel_spec in quotes, for example "poor snr=20 offset=30".
 * SECONDS is the length of one transmission. LEAD is the time before it, s. */
#include "modem/loopback.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>

namespace {

int measure(int argc, char** argv)
{
    using namespace gr::hf;
    const mode m = mode::parse(argv[1]);
    const std::string channel = argv[2];
    const double seconds = std::atof(argv[3]);
    const uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
    const int bursts = argc > 5 ? std::atoi(argv[5]) : 1;

    const auto timing = kernel::timing_of(m);
    const size_t blocks =
        std::max<size_t>(1,
                         static_cast<size_t>(seconds * timing.symbol_rate_bd /
                                             static_cast<double>(timing.block_symbols)));
    size_t octets = timing.octets_in(blocks);
    if (octets == 0)
        octets = 1;

    kernel::rx_options options;
    options.effort = argc > 6 ? std::atoi(argv[6]) : 1;

    const double rate = loopback::sample_rate(m);
    const double lead = argc > 7 ? std::atof(argv[7]) : 0.5;
    size_t bits = 0, errors = 0, started = 0, right_mode = 0, ended = 0, chunks = 0,
           bad = 0;
    double snr = 0, hz = 0, cpu = 0, air = 0, power = 0, powers = 0;
    for (int b = 0; b < bursts; ++b) {
        const auto sent = loopback::random_octets(octets, seed * 1000 + b);
        const size_t begin = static_cast<size_t>(rate * lead) + 37 * (b % 7);
        loopback::samples x(begin);
        const auto t = loopback::transmit(m, sent);
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, static_cast<size_t>(2.5 * rate));
        x = loopback::through(x, channel, seed * 1000 + b, kernel::mean_power(m), rate);
        const auto rx = loopback::receiver_of(m, options);
        const std::clock_t t0 = std::clock();
        const auto got = loopback::receive(*rx, x);
        cpu += static_cast<double>(std::clock() - t0) / CLOCKS_PER_SEC;
        air += static_cast<double>(x.size()) / rate;
        bits += 8 * sent.size();
        if (got.empty()) {
            errors += 4 * sent.size();
            continue;
        }
        ++started;
        const auto& r = got.front();
        right_mode += r.start->m == m;
        ended += r.end && r.end->reason == rx_end_reason::eom;
        snr += r.start->snr_db;
        hz += r.start->freq_offset_hz;
        for (const auto& block : r.blocks) {
            power += std::pow(10, block.snr_db / 10);
            ++powers;
        }
        const size_t bad_before = bad;
        const size_t per_chunk = std::max<size_t>(1, timing.bits_per_block / 8);
        for (size_t i = 0; i < sent.size(); i += per_chunk) {
            size_t e = 0;
            for (size_t k = i; k < std::min(sent.size(), i + per_chunk); ++k)
                e += k < r.octets.size()
                         ? static_cast<size_t>(__builtin_popcount(sent[k] ^ r.octets[k]))
                         : 4;
            errors += e;
            ++chunks;
            bad += e > 0;
        }
        if (bad > bad_before)
            std::fprintf(stderr,
                         "transmission %d: %zu bad blocks, %s, started at %.2f of %zu, "
                         "offset %.2f\n",
                         b,
                         bad - bad_before,
                         r.start->m.to_string().c_str(),
                         static_cast<double>(r.start_sample),
                         begin,
                         r.start->freq_offset_hz);
    }
    std::printf(
        "%s %s: bursts %d started %zu right mode %zu eom %zu; bits %zu errors %zu ber "
        "%.2e; blocks %zu bad %zu; snr %.1f, of the blocks %.1f, offset %.2f; %.0f x "
        "real time\n",
        argv[1],
        argv[2],
        bursts,
        started,
        right_mode,
        ended,
        bits,
        errors,
        static_cast<double>(errors) / static_cast<double>(bits),
        chunks,
        bad,
        snr / std::max<double>(1, static_cast<double>(started)),
        10 * std::log10(power / std::max(1.0, powers)),
        hz / std::max<double>(1, static_cast<double>(started)),
        air / cpu);
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        std::fprintf(stderr,
                     "usage: ber_probe MODE CHANNEL SECONDS [SEED [BURSTS [EFFORT "
                     "[LEAD]]]]\n");
        return 2;
    }
    try {
        return measure(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "ber_probe: %s\n", e.what());
        return 2;
    }
}
