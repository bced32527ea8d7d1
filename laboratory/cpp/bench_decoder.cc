/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Speed of the Viterbi decoders on one core, Mbit/s by processor time: K = 7 and 9 from soft
 * bits as float, beside GNU Radio's decoder for K = 7 from soft bits of 8 bits, which calls
 * VOLK's volk_8u_x4_conv_k7_r2_8u. All decode the same tail-biting blocks.
 * bench_decoder [seconds for each, default 2] */
#include "modem/decode/viterbi.h"
#include "waveform/coding/convolutional_code.h"

#include <gnuradio/fec/cc_decoder.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace gr::hf::kernel;

// Size of a block of 4539-9600VL.
constexpr size_t bits_per_block = 103680 / 2;
// Standard deviation of the noise on soft bits of magnitude 1: Eb/N0 of 4 dB.
constexpr double sigma = 0.63;

struct block {
    std::vector<uint8_t> bits;
    std::vector<float> soft;
};

block make(const code_plan& p)
{
    block b;
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0, sigma);
    for (size_t k = 0; k < bits_per_block; ++k)
        b.bits.push_back(random() & 1);
    std::vector<uint8_t> coded;
    convolutional_encoder(p).encode(b.bits.data(), bits_per_block, coded);
    for (const uint8_t c : coded)
        b.soft.push_back(static_cast<float>((c ? -1 : 1) + noise(random)));
    return b;
}

size_t wrong_bits(const block& b, const std::vector<uint8_t>& got)
{
    return bits_per_block - static_cast<size_t>(std::inner_product(
                                got.begin(),
                                got.end(),
                                b.bits.begin(),
                                0,
                                std::plus<>(),
                                [](uint8_t x, uint8_t y) { return x == y; }));
}

// Prints the speed of \p decode, which returns the number of wrong bits of a block.
void bench(const char* what, double seconds, const std::function<size_t()>& decode)
{
    const size_t wrong = decode();
    const auto begin = std::clock();
    double took = 0;
    size_t blocks = 0;
    while (took < seconds) {
        decode();
        ++blocks;
        took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    std::printf("%-24s %7.1f Mbit/s, %zu of %zu bits wrong\n",
                what,
                static_cast<double>(blocks * bits_per_block) / took / 1e6,
                wrong,
                bits_per_block);
}

void bench_ours(const char* what, double seconds, const code_plan& p)
{
    const block b = make(p);
    viterbi_decoder decoder(p);
    std::vector<uint8_t> got;
    bench(what, seconds, [&] {
        got.clear();
        decoder.decode_tail_biting(b.soft.data(), bits_per_block, got);
        return wrong_bits(b, got);
    });
}

void bench_volk(double seconds, const code_plan& p)
{
    const block b = make(p);
    // GNU Radio takes 0 to 255, 255 for a one.
    std::vector<uint8_t> soft, got(bits_per_block);
    for (const float s : b.soft)
        soft.push_back(static_cast<uint8_t>(std::clamp(127.5f - 50 * s, 0.0f, 255.0f)));
    const auto decoder = gr::fec::code::cc_decoder::make(
        bits_per_block, 7, 2, { 0x6d, 0x4f }, 0, -1, CC_TAILBITING);
    bench("K = 7, GNU Radio, VOLK", seconds, [&] {
        decoder->generic_work(soft.data(), got.data());
        // Its first bit is the one that leaves the register with the first pair.
        std::rotate(got.begin(), got.end() - 6, got.end());
        return wrong_bits(b, got);
    });
}

} // namespace

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
    const code_plan seven = high_rate_code().mother();
    code_plan nine = seven;
    nine.constraint_length = 9; // of 110C table D-XLII
    nine.t1 = 0561;
    nine.t2 = 0753;
    bench_ours("K = 7, ours", seconds, seven);
    bench_ours("K = 9, ours", seconds, nine);
    bench_volk(seconds, seven);
}
