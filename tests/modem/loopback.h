/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/channel.h"
#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "waveform/description.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

//! Bytes to samples, channel, samples to bytes: for tests and measuring programs.
namespace loopback {

using samples = std::vector<std::complex<float>>;

inline std::vector<uint8_t> random_octets(size_t n, uint64_t seed)
{
    std::mt19937_64 rng(seed);
    std::vector<uint8_t> v(n);
    for (auto& x : v)
        x = static_cast<uint8_t>(rng());
    return v;
}

//! Sample rate of a mode's bandwidth: 9600 samples/s in 3 kHz.
inline double sample_rate(const gr::hf::mode& m)
{
    return gr::hf::kernel::grid_of(m).sample_rate();
}

//! A receiver for the bandwidth of a mode.
inline std::unique_ptr<gr::hf::kernel::burst_receiver>
receiver_of(const gr::hf::mode& m, const gr::hf::kernel::rx_options& o = {})
{
    return std::make_unique<gr::hf::kernel::burst_receiver>(
        o, gr::hf::kernel::receptions(m.bandwidth_hz));
}

//! A whole transmission on the grid of its mode.
inline samples transmit(const gr::hf::mode& m,
                        const std::vector<uint8_t>& octets,
                        gr::hf::kernel::tx_options options = {})
{
    gr::hf::kernel::burst_modulator mod(sample_rate(m));
    size_t at = 0;
    mod.start(
        m,
        [&](uint64_t, size_t max) {
            const size_t n = std::min(max, octets.size() - at);
            gr::hf::tx_octets t;
            t.octets.assign(octets.begin() + static_cast<long>(at),
                            octets.begin() + static_cast<long>(at + n));
            at += n;
            t.last = at == octets.size();
            return t;
        },
        options);
    samples out;
    samples piece(4096);
    while (mod.active()) {
        const size_t n = mod.produce(piece.data(), piece.size());
        out.insert(out.end(), piece.begin(), piece.begin() + static_cast<long>(n));
    }
    return out;
}

//! Append \p n zero samples.
inline void pause(samples& x, size_t n) { x.resize(x.size() + n); }

//! \p rate: samples/s.
inline samples through(const samples& in,
                       const std::string& channel,
                       uint64_t seed,
                       double signal_power,
                       double rate = 9600)
{
    gr::hf::kernel::channel c(
        gr::hf::kernel::channel_spec::parse(channel), rate, seed, signal_power);
    samples out(in.size());
    for (size_t i = 0; i < in.size(); i += 4096)
        c.process(&in[i], &out[i], std::min<size_t>(4096, in.size() - i));
    return out;
}

//! A receiver's results for one transmission.
struct reception {
    std::optional<gr::hf::rx_start> start;
    int64_t start_sample = 0;
    size_t told_after = 0; // samples heard by then
    std::vector<uint8_t> octets;
    std::vector<gr::hf::rx_octets> blocks;
    std::optional<gr::hf::rx_end> end;
    int64_t end_sample = 0;
};

//! Push \p x in pieces of \p chunk samples; one entry per rx_start.
inline std::vector<reception>
receive(gr::hf::kernel::burst_receiver& rx, const samples& x, size_t chunk = 960)
{
    std::vector<reception> all;
    for (size_t i = 0; i < x.size(); i += chunk) {
        rx.push(&x[i], std::min(chunk, x.size() - i));
        while (auto e = rx.poll()) {
            if (auto* s = std::get_if<gr::hf::rx_start>(&e->what)) {
                all.emplace_back();
                all.back().start = *s;
                all.back().start_sample = e->sample;
                all.back().told_after = std::min(i + chunk, x.size());
            } else if (all.empty()) {
                all.emplace_back(); // no start: let the test see it
            }
            if (auto* o = std::get_if<gr::hf::rx_octets>(&e->what)) {
                auto& r = all.back();
                r.octets.insert(r.octets.end(), o->octets.begin(), o->octets.end());
                r.blocks.push_back(*o);
            } else if (auto* d = std::get_if<gr::hf::rx_end>(&e->what)) {
                all.back().end = *d;
                all.back().end_sample = e->sample;
            }
        }
    }
    return all;
}

} // namespace loopback
