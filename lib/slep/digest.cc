/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/digest.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// FIPS 180-4, 4.2.2
constexpr uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2
};

constexpr uint32_t turn(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

} // namespace

// FIPS 180-4, 6.2.2
void stream_digest::block(const uint8_t* p)
{
    uint32_t w[64];
    for (int t = 0; t < 16; ++t, p += 4)
        w[t] = uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
    for (int t = 16; t < 64; ++t) {
        const uint32_t x = w[t - 15], y = w[t - 2];
        w[t] = w[t - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[t - 7] +
               (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = d_state;
    for (int t = 0; t < 64; ++t) {
        const uint32_t one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                             ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
        const uint32_t two =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    const std::array<uint32_t, 8> added{ a, b, c, d, e, f, g, h };
    for (size_t k = 0; k < added.size(); ++k)
        d_state[k] += added[k];
}

void stream_digest::update(const uint8_t* p, size_t n)
{
    while (n > 0) {
        const size_t at = d_count % d_part.size();
        const size_t take = std::min(n, d_part.size() - at);
        std::copy_n(p, take, d_part.begin() + static_cast<long>(at));
        d_count += take;
        p += take;
        n -= take;
        if (at + take == d_part.size())
            block(d_part.data());
    }
}

uint32_t stream_digest::value() const
{
    stream_digest last = *this;
    const uint8_t one = 0x80, zero = 0;
    last.update(&one, 1);
    while (last.d_count % d_part.size() != d_part.size() - 8)
        last.update(&zero, 1);
    uint8_t bits[8];
    for (int k = 0; k < 8; ++k)
        bits[k] = static_cast<uint8_t>(d_count * 8 >> (56 - 8 * k));
    last.update(bits, 8);
    return last.d_state[0];
}

} // namespace gr::hf::slep
