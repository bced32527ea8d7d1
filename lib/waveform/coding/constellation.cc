/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/coding/constellation.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

using point = std::complex<float>;

std::vector<uint8_t> identity(size_t n)
{
    std::vector<uint8_t> v(n);
    for (size_t i = 0; i < n; ++i)
        v[i] = static_cast<uint8_t>(i);
    return v;
}

point on_circle(double degrees)
{
    const double a = degrees * std::acos(-1.0) / 180.0;
    return { static_cast<float>(std::cos(a)), static_cast<float>(std::sin(a)) };
}

// Twelve points every 30 degrees on the unit circle, four inside.
std::vector<point> qam16()
{
    constexpr float in = 0.258819f;
    return { on_circle(30),  on_circle(60),  on_circle(0),   { in, in },
             on_circle(120), on_circle(90),  on_circle(150), { -in, in },
             on_circle(300), on_circle(270), on_circle(330), { in, -in },
             on_circle(210), on_circle(240), on_circle(180), { -in, -in } };
}

// One quadrant is listed; bit 3 mirrors left to right, bit 4 top to bottom.
std::vector<point> qam32()
{
    const point quadrant[8] = { { 0.866380f, 0.499386f }, { 0.984849f, 0.173415f },
                                { 0.499386f, 0.866380f }, { 0.173415f, 0.984849f },
                                { 0.520246f, 0.520246f }, { 0.520246f, 0.173415f },
                                { 0.173415f, 0.520246f }, { 0.173415f, 0.173415f } };
    std::vector<point> p(32);
    for (unsigned n = 0; n < 32; ++n) {
        const point q = quadrant[n & 7];
        p[n] = { n & 8 ? -q.real() : q.real(), n & 16 ? -q.imag() : q.imag() };
    }
    return p;
}

// One quadrant is listed; bit 5 mirrors left to right, bit 2 top to bottom. The corner of
// each quadrant (0, 4, 32, 36) is moved onto an axis to keep the peak at 1.
std::vector<point> qam64()
{
    const point quadrant[16] = { { 1.0f, 0.0f },           { 0.822878f, 0.568218f },
                                 { 0.821137f, 0.152996f }, { 0.932897f, 0.360142f },
                                 { 0.568218f, 0.822878f }, { 0.588429f, 0.588429f },
                                 { 0.588429f, 0.117686f }, { 0.588429f, 0.353057f },
                                 { 0.152996f, 0.821137f }, { 0.117686f, 0.588429f },
                                 { 0.117686f, 0.117686f }, { 0.117686f, 0.353057f },
                                 { 0.360142f, 0.932897f }, { 0.353057f, 0.588429f },
                                 { 0.353057f, 0.117686f }, { 0.353057f, 0.353057f } };
    std::vector<point> p(64);
    for (unsigned n = 0; n < 64; ++n) {
        const point q = quadrant[(n >> 1 & 12) | (n & 3)];
        p[n] = { n & 32 ? -q.real() : q.real(), n & 4 ? -q.imag() : q.imag() };
    }
    p[4] = { 0.0f, -1.0f };
    p[32] = { 0.0f, 1.0f };
    p[36] = { -1.0f, 0.0f };
    return p;
}

// One quadrant is listed, eight points for each of the numbers' bits 4 to 6. Bit 3
// mirrors top to bottom, bit 7 left to right (110C table D-X).
std::vector<point> qam256()
{
    const point quadrant[64] = {
        { 0.959366f, 0.056433f }, { 0.959366f, 0.169300f }, { 0.846499f, 0.507899f },
        { 0.959366f, 0.282166f }, { 0.846499f, 0.056433f }, { 0.846499f, 0.169300f },
        { 0.846499f, 0.395033f }, { 0.846499f, 0.282166f }, { 0.169300f, 0.959366f },
        { 0.056433f, 0.998304f }, { 0.733632f, 0.507899f }, { 0.733632f, 0.620766f },
        { 0.733632f, 0.056433f }, { 0.733632f, 0.169300f }, { 0.733632f, 0.395033f },
        { 0.733632f, 0.282166f }, { 0.507899f, 0.846499f }, { 0.507899f, 0.733632f },
        { 0.507899f, 0.507899f }, { 0.507899f, 0.620766f }, { 0.507899f, 0.056433f },
        { 0.507899f, 0.169300f }, { 0.507899f, 0.395033f }, { 0.507899f, 0.282166f },
        { 0.282166f, 0.959366f }, { 0.620766f, 0.733632f }, { 0.620766f, 0.507899f },
        { 0.620766f, 0.620766f }, { 0.620766f, 0.056433f }, { 0.620766f, 0.169300f },
        { 0.620766f, 0.395033f }, { 0.620766f, 0.282166f }, { 0.056433f, 0.846499f },
        { 0.056433f, 0.733632f }, { 0.056433f, 0.507899f }, { 0.056433f, 0.620766f },
        { 0.056433f, 0.056433f }, { 0.056433f, 0.169300f }, { 0.056433f, 0.395033f },
        { 0.056433f, 0.282166f }, { 0.169300f, 0.846499f }, { 0.169300f, 0.733632f },
        { 0.169300f, 0.507899f }, { 0.169300f, 0.620766f }, { 0.169300f, 0.056433f },
        { 0.169300f, 0.169300f }, { 0.169300f, 0.395033f }, { 0.169300f, 0.282166f },
        { 0.395033f, 0.846499f }, { 0.395033f, 0.733632f }, { 0.395033f, 0.507899f },
        { 0.395033f, 0.620766f }, { 0.395033f, 0.056433f }, { 0.395033f, 0.169300f },
        { 0.395033f, 0.395033f }, { 0.395033f, 0.282166f }, { 0.282166f, 0.846499f },
        { 0.282166f, 0.733632f }, { 0.282166f, 0.507899f }, { 0.282166f, 0.620766f },
        { 0.282166f, 0.056433f }, { 0.282166f, 0.169300f }, { 0.282166f, 0.395033f },
        { 0.282166f, 0.282166f }
    };
    std::vector<point> p(256);
    for (unsigned n = 0; n < 256; ++n) {
        const point q = quadrant[(n >> 1 & 56) | (n & 7)];
        p[n] = { n & 128 ? -q.real() : q.real(), n & 8 ? -q.imag() : q.imag() };
    }
    return p;
}

} // namespace

double constellation::mean_power() const
{
    // Scrambling spreads every label evenly over all points of a ring or a QAM set.
    double sum = 0;
    for (const auto& p : points)
        sum += std::norm(std::complex<double>(p));
    return sum / static_cast<double>(points.size());
}

const std::vector<std::complex<float>>& psk8_points()
{
    static const std::vector<point> ring = [] {
        std::vector<point> p;
        for (int k = 0; k < 8; ++k)
            p.push_back(on_circle(45.0 * k));
        return p;
    }();
    return ring;
}

constellation serial_tone_psk(unsigned bits)
{
    constellation c{ bits, scrambling::add_mod_8, psk8_points(), {} };
    if (bits == 1)
        c.label_to_number = { 0, 4 };
    else if (bits == 2)
        c.label_to_number = { 0, 2, 6, 4 };
    else if (bits == 3)
        c.label_to_number = { 0, 1, 3, 2, 7, 6, 4, 5 };
    else
        throw std::invalid_argument("serial-tone PSK: " + std::to_string(bits) +
                                    " bits per symbol, allowed are 1, 2 and 3");
    return c;
}

constellation serial_tone_walsh()
{
    return { 2, scrambling::add_mod_8, psk8_points(), { 0, 1, 3, 2 } };
}

constellation transcoded_psk(unsigned bits)
{
    constellation c{ bits, scrambling::add_mod_8, psk8_points(), {} };
    if (bits == 1)
        c.label_to_number = { 0, 4 };
    else if (bits == 2)
        c.label_to_number = { 0, 2, 6, 4 };
    else if (bits == 3)
        c.label_to_number = { 1, 0, 2, 3, 6, 7, 5, 4 };
    else
        throw std::invalid_argument("PSK: " + std::to_string(bits) +
                                    " bits per symbol, allowed are 1, 2 and 3");
    return c;
}

constellation qam(unsigned bits)
{
    switch (bits) {
    case 4:
        return { bits, scrambling::exclusive_or, qam16(), identity(16) };
    case 5:
        return { bits, scrambling::exclusive_or, qam32(), identity(32) };
    case 6:
        return { bits, scrambling::exclusive_or, qam64(), identity(64) };
    case 8:
        return { bits, scrambling::exclusive_or, qam256(), identity(256) };
    default:
        throw std::invalid_argument("QAM: " + std::to_string(bits) +
                                    " bits per symbol, allowed are 4, 5, 6 and 8");
    }
}

} // namespace gr::hf::kernel
