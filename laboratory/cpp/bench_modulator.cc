/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Speed of the modulator: bench_modulator [seconds of signal, default 600]
#include "modem/burst_modulator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace gr::hf;
using namespace gr::hf::kernel;

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 600;
    std::printf("%-14s %12s\n", "mode", "x real time");
    for (const char* name :
         { "4539-75S", "4539-600S", "4539-2400L", "4539-3200S", "4539-9600VL" }) {
        burst_modulator mod(9600);
        mod.start(mode::parse(name), [](uint64_t, size_t n) {
            return tx_octets{ std::vector<uint8_t>(n, 0x5A), false };
        });
        std::vector<std::complex<float>> buffer(960);
        const auto begin = std::chrono::steady_clock::now();
        while (static_cast<double>(mod.produced()) < seconds * 9600)
            mod.produce(buffer.data(), buffer.size());
        const std::chrono::duration<double> took =
            std::chrono::steady_clock::now() - begin;
        std::printf("%-14s %12.0f\n", name, seconds / took.count());
    }
}
