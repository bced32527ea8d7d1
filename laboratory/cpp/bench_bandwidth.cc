/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processor time and errors of the receiver by bandwidth: bench_bandwidth [MODE[:CHANNEL]
 * ...]
 *
 * The receiver listens for all modes of the bandwidth, as a station does. CHANNEL is a
 * channel_spec whose `snr` refers to the waveform's own bandwidth. */
#include "modem/loopback.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

namespace {

using namespace gr::hf;
using namespace gr::hf::kernel;
using value = std::complex<float>;

constexpr double signal_s = 20;

class processor_time
{
public:
    double seconds() const
    {
        return static_cast<double>(std::clock() - d_from) / CLOCKS_PER_SEC;
    }

private:
    std::clock_t d_from = std::clock();
};

// \p spec with its SNR moved from the waveform's bandwidth to the channel's 3 kHz.
std::string in_3_khz(std::string spec, double bandwidth_hz)
{
    const auto at = spec.find("snr=");
    if (at == std::string::npos)
        return spec;
    size_t length = 0;
    const double snr_db = std::stod(spec.substr(at + 4), &length);
    return spec.replace(
        at + 4, length, std::to_string(snr_db + 10 * std::log10(bandwidth_hz / 3000)));
}

void run_channel(loopback::samples& x,
                 const std::string& spec,
                 const mode& m,
                 uint64_t seed)
{
    const symbol_grid grid(kernel::describe(m).symbol_rate_bd);
    channel c(channel_spec::parse(in_3_khz(spec, m.bandwidth_hz)),
              grid.sample_rate(),
              seed,
              mean_power(m));
    for (size_t i = 0; i < x.size(); i += 4096)
        c.process(&x[i], &x[i], std::min<size_t>(4096, x.size() - i));
}

void receive(const mode& m, const std::string& spec, double seconds, uint64_t seed)
{
    const symbol_grid grid(kernel::describe(m).symbol_rate_bd);
    const auto timing = timing_of(m);
    const auto blocks =
        std::max<size_t>(1,
                         static_cast<size_t>(seconds * timing.symbol_rate_bd /
                                             static_cast<double>(timing.block_symbols)));
    const auto octets = loopback::random_octets(timing.octets_in(blocks), seed);

    burst_modulator mod(grid.sample_rate());
    size_t at = 0;
    mod.start(m, [&](uint64_t, size_t most) {
        const size_t n = std::min(most, octets.size() - at);
        const auto from = octets.begin() + static_cast<long>(at);
        at += n;
        return tx_octets{ { from, from + static_cast<long>(n) }, at == octets.size() };
    });
    const auto lead = static_cast<size_t>(grid.samples(0.2));
    loopback::samples x(lead), piece(4096);
    const processor_time modulating;
    while (mod.active()) {
        const size_t n = mod.produce(piece.data(), piece.size());
        x.insert(x.end(), piece.begin(), piece.begin() + static_cast<long>(n));
    }
    const double tx_s = modulating.seconds();
    loopback::pause(x, lead);
    run_channel(x, spec, m, seed);

    burst_receiver rx({}, receptions(m.bandwidth_hz));
    const processor_time receiving;
    const auto got = loopback::receive(rx, x, grid.tick_samples());
    const double rx_s = receiving.seconds();
    const double air_s = static_cast<double>(x.size()) / grid.sample_rate();
    size_t errors = 8 * octets.size();
    const bool tell = std::getenv("TELL_BAD_BLOCKS") != nullptr;
    double snr_db = 0;
    if (!got.empty()) {
        const auto& r = got.front();
        errors = 0;
        for (size_t i = 0; i < octets.size(); ++i)
            errors +=
                i < r.octets.size()
                    ? static_cast<size_t>(__builtin_popcount(octets[i] ^ r.octets[i]))
                    : 4;
        const size_t per_block = timing.bits_per_block / 8;
        for (size_t i = 0; tell && i < octets.size(); i += per_block) {
            size_t bad = 0;
            for (size_t k = i; k < std::min(octets.size(), i + per_block); ++k)
                bad += k >= r.octets.size() || r.octets[k] != octets[k];
            const size_t b = i / per_block;
            std::fprintf(stderr,
                         "%zu: %zu bad, snr %.1f quality %.2f\n",
                         b,
                         bad,
                         b < r.blocks.size() ? r.blocks[b].snr_db : 0,
                         b < r.blocks.size() ? r.blocks[b].quality : 0);
        }
        snr_db = r.blocks.empty() ? r.start->snr_db : r.blocks.back().snr_db;
    }
    std::printf("%-22s %-30s %6.1f s  BER %8.2e  SNR %5.1f dB  receiver %6.1f  "
                "modulator %6.1f\n",
                m.to_string().c_str(),
                spec.c_str(),
                air_s,
                static_cast<double>(errors) / static_cast<double>(8 * octets.size()),
                snr_db,
                air_s / rx_s,
                air_s / tx_s);
    std::fflush(stdout);
}

void hear_noise(const mode& m, double seconds)
{
    const symbol_grid grid(kernel::describe(m).symbol_rate_bd);
    loopback::samples x(static_cast<size_t>(grid.samples(seconds)));
    run_channel(x, "snr=0", m, 1);
    burst_receiver rx({}, receptions(m.bandwidth_hz));
    const processor_time time;
    loopback::receive(rx, x, grid.tick_samples());
    std::printf("%2d kHz, noise %58s receiver %6.1f\n",
                m.bandwidth_hz / 1000,
                "",
                seconds / time.seconds());
    std::fflush(stdout);
}

// About the SNR of ten wrong bits in a million, for the ideal receiver plus 0.7 dB; and
// 3 dB more.
constexpr const char* measured[] = {
    "5069-3k-9600S",   "5069-3k-16000S",   "5069-12k-38400S",  "5069-12k-64000S",
    "5069-24k-76800S", "5069-24k-120000S", "5069-48k-144000S", "5069-48k-240000S",
};

} // namespace

int main(int argc, char** argv)
{
    const char* seconds = std::getenv("SECONDS_OF_SIGNAL");
    const double length = seconds ? std::atof(seconds) : signal_s;
    try {
        for (int i = 1; i < argc; ++i) {
            const std::string a = argv[i];
            const auto colon = a.find(':');
            if (a.substr(0, 6) == "noise:")
                hear_noise(mode::parse(a.substr(6)), length / 4);
            else if (colon == std::string::npos)
                throw std::invalid_argument(a + ": wanted MODE:CHANNEL or noise:MODE");
            else
                receive(mode::parse(a.substr(0, colon)), a.substr(colon + 1), length, 1);
        }
        if (argc > 1)
            return 0;
        for (const char* name : { "5069-3k-9600S",
                                  "5069-12k-38400S",
                                  "5069-24k-76800S",
                                  "5069-48k-240000S" })
            hear_noise(mode::parse(name), length / 4);
        for (const char* name : measured) {
            const mode m = mode::parse(name);
            const bool points_256 = kernel::describe(m).alphabet.bits == 8;
            const std::vector<const char*> specs =
                points_256 ? std::vector<const char*>{ "snr=28", "snr=31" }
                           : std::vector<const char*>{
                                 "snr=19.2", "snr=22.2", "poor snr=24", "poor snr=27"
                             };
            for (const char* spec : specs)
                receive(m, spec, length, 1);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_bandwidth: %s\n", e.what());
        return 2;
    }
    return 0;
}
