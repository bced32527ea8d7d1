/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_modulator.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

burst_modulator::burst_modulator(double sample_rate, size_t span)
    : d_sample_rate(sample_rate), d_shaper(span)
{
    if (!(sample_rate >= 4800 && sample_rate <= 1e6))
        throw std::invalid_argument("burst_modulator: sample rate " +
                                    std::to_string(sample_rate) +
                                    ", allowed are 4800 to 1000000");
}

void burst_modulator::start(const mode& m, pull source, tx_options options)
{
    start(describe(m), std::move(source), options);
}

void burst_modulator::start(const description& d, pull source, tx_options options)
{
    auto tx = std::make_unique<transmitter>(d, options);
    const double sps = d_sample_rate / tx->waveform().symbol_rate_bd;
    if (sps < 2 || sps != std::floor(sps))
        throw std::invalid_argument(
            "burst_modulator: sample rate " + std::to_string(d_sample_rate) + ", mode " +
            d.m.to_string() + " needs a multiple, at least 2, of its symbol rate " +
            std::to_string(tx->waveform().symbol_rate_bd));
    d_tx = std::move(tx);
    d_pull = std::move(source);
    d_shaper.start(static_cast<size_t>(sps));
}

void burst_modulator::feed()
{
    if (const size_t wanted = d_tx->octets_wanted()) {
        const tx_octets got = d_pull
                                  ? d_pull(sample_of_symbol(d_tx->block_symbol()), wanted)
                                  : tx_octets{ {}, true };
        d_tx->give(got.octets.data(), got.octets.size(), got.last);
    }
    std::array<tx_symbol, 64> chunk;
    const size_t n = d_tx->produce(chunk.data(), chunk.size());
    for (size_t i = 0; i < n; ++i)
        d_shaper.give(chunk[i].value);
    if (d_tx->done())
        d_shaper.finish();
}

size_t burst_modulator::produce(std::complex<float>* out, size_t n)
{
    size_t made = 0;
    while (active() && made < n) {
        if (d_shaper.hungry())
            feed();
        made += d_shaper.produce(out + made, n - made);
    }
    return made;
}

} // namespace gr::hf::kernel
