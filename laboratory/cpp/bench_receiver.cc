/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the receiver on one core, as a multiple of real time, by processor time:
 * bench_receiver [MODE ...] */
#include "modem/loopback.h"
#include "waveform/timing.h"

#include <cstdio>
#include <ctime>
#include <exception>

namespace {

using namespace gr::hf;

double times_real_time(const loopback::samples& x)
{
    kernel::burst_receiver rx;
    const auto t0 = std::clock();
    loopback::receive(rx, x, 4800);
    const double t = static_cast<double>(std::clock() - t0) / CLOCKS_PER_SEC;
    return static_cast<double>(x.size()) / 9600 / t;
}

void bench(const mode& m)
{
    const auto timing = kernel::timing_of(m);
    const size_t blocks =
        1 + static_cast<size_t>(25 * timing.symbol_rate_bd /
                                static_cast<double>(timing.block_symbols));
    const auto t =
        loopback::transmit(m, loopback::random_octets(timing.octets_in(blocks), 1));
    const double p = kernel::mean_power(m);
    std::printf("%-14s awgn 25 dB %6.0f   poor 25 dB %6.0f\n",
                m.to_string().c_str(),
                times_real_time(loopback::through(t, "snr=25", 1, p)),
                times_real_time(loopback::through(t, "poor snr=25", 1, p)));
}

} // namespace

int main(int argc, char** argv)
{
    try {
        std::printf("searching      noise      %6.0f\n",
                    times_real_time(
                        loopback::through(loopback::samples(9600 * 60), "snr=0", 1, 1)));
        if (argc > 1) {
            for (int i = 1; i < argc; ++i)
                bench(mode::parse(argv[i]));
            return 0;
        }
        for (const char* name : { "4539-75L",
                                  "4539-150L",
                                  "4539-300L",
                                  "4539-600S",
                                  "4539-600L",
                                  "4539-1200L",
                                  "4539-2400S",
                                  "4539-2400L",
                                  "4539-4800N",
                                  "4539-3200US",
                                  "4539-3200VL",
                                  "4539-4800VL",
                                  "4539-6400VL",
                                  "4539-8000VL",
                                  "4539-9600S",
                                  "4539-9600VL",
                                  "4539-12800N" })
            bench(mode::parse(name));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_receiver: %s\n", e.what());
        return 2;
    }
    return 0;
}
