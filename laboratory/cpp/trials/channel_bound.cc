/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/channel_bound.h"

#include "channel/channel.h"
#include "modem/burst_modulator.h"
#include "modem/decode/block_decoder.h"
#include "modem/front/pulse.h"
#include "waveform/block_encoder.h"
#include "waveform/description.h"
#include "waveform/timing.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <vector>

namespace gr::hf::sim {

namespace {

using namespace kernel;

constexpr size_t max_rounds = 12;
constexpr float largest_ratio = 60; // of a soft bit
// Streams of random numbers beside those of the channel.
constexpr uint64_t bit_stream = 0x626f756e642d6269, noise_stream = 0x626f756e642d6e6f;

channel_spec checked(const std::string& words, const mode& m)
{
    auto spec = channel_spec::parse(words);
    if (!spec.snr_db)
        throw std::invalid_argument("bound: the channel \"" + words + "\" has no snr=");
    if (spec.clock_ppm != 0 || spec.step || spec.agc_s != 0 || spec.gain_db != 0 ||
        spec.impulses || !spec.carriers.empty() || spec.morse || spec.rtty || spec.filter)
        throw std::invalid_argument(
            "bound: the channel \"" + words +
            "\" may not have clock=, step=, agc=, gain=, impulses=, carriers=, morse=, "
            "rtty= or filter=");
    spec.bandwidth_khz = spec.bandwidth_khz.value_or(m.bandwidth_hz / 1e3);
    return spec;
}

/* Symbols from one data symbol to the next in the fading, beyond their distance on the
 * air. Without a code only the distribution of the gains counts. After 1 / spread their
 * correlation is 0.007, exp(-pi^2 / 2), so each symbol is a fade of its own. With a code
 * the fading within a block counts, and the distance stays. */
double symbols_to_the_next_fade(const channel& c, const description& d)
{
    double slowest_hz = 0; // spread of that path
    if (!d.code.coded && !c.spec().learned)
        for (const auto& p : c.spec().paths)
            if (p.spread_hz > 0 && (slowest_hz == 0 || p.spread_hz < slowest_hz))
                slowest_hz = p.spread_hz;
    return slowest_hz > 0 ? d.symbol_rate_bd / slowest_hz : 0;
}

// Log-likelihoods of the labels of one data symbol that arrives alone.
class lone_symbols
{
public:
    lone_symbols(const mode& m, const description& d, const channel& c, uint64_t seed)
        : d_d(d), d_channel(c), d_noise(seed, noise_stream),
          d_noise_power(c.noise_power() / symbol_grid::samples_per_symbol),
          d_delays(c.paths().size()), d_gains(c.paths().size()),
          d_lead(static_cast<double>(timing_of(m).preamble_symbols)),
          d_to_the_next_fade(symbols_to_the_next_fade(c, d))
    {
        for (size_t p = 0; p < d_delays.size(); ++p)
            d_delays[p] = c.paths()[p].delay();
    }

    /*! \brief Receive one data symbol, or one word of chips.
     *  \param first its first symbol on the air, counted from the first after the preamble
     *  \param likelihoods gets one value per label
     */
    void receive(uint64_t first, uint8_t label, uint8_t scrambling, double* likelihoods)
    {
        double energy = 0;
        for (size_t chip = 0; chip < d_d.chips(); ++chip)
            energy += energy_at(static_cast<double>(first + chip) + d_fade);
        d_fade += d_to_the_next_fade;
        const size_t labels = size_t{ 1 } << d_d.alphabet.bits;
        if (d_d.spread()) { // orthogonal words
            for (size_t l = 0; l < labels; ++l) {
                const double noise =
                    noise_sample().real() * std::sqrt(energy * d_noise_power);
                likelihoods[l] = 2 * ((l == label ? energy : 0) + noise) / d_noise_power;
            }
            return;
        }
        const std::complex<double> error =
            noise_sample() * std::sqrt(d_noise_power / energy);
        const auto sent = std::complex<double>(d_d.alphabet.point(label, scrambling));
        for (size_t l = 0; l < labels; ++l) {
            const auto point = std::complex<double>(
                d_d.alphabet.point(static_cast<uint8_t>(l), scrambling));
            likelihoods[l] = -std::norm(sent + error - point) * energy / d_noise_power;
        }
    }

private:
    std::complex<double> noise_sample()
    {
        return std::complex<double>(d_noise.gaussian(d_drawn++));
    }

    // Energy of all paths after the matched filter; 1 for one path of gain 1.
    double energy_at(double symbol)
    {
        const double sent = (d_lead + symbol) * symbol_grid::samples_per_symbol;
        for (size_t p = 0; p < d_gains.size(); ++p)
            d_gains[p] = d_channel.paths()[p].gain(sent + d_delays[p]);
        double energy = 0;
        for (size_t p = 0; p < d_gains.size(); ++p)
            for (size_t q = 0; q < d_gains.size(); ++q)
                energy += (std::conj(d_gains[p]) * d_gains[q]).real() *
                          raised_cosine((d_delays[p] - d_delays[q]) /
                                        symbol_grid::samples_per_symbol);
        return std::max(energy, 1e-12);
    }

    const description& d_d;
    const channel& d_channel;
    counter_random d_noise;
    uint64_t d_drawn = 0;
    double d_noise_power; // of a symbol
    std::vector<double> d_delays;
    std::vector<std::complex<double>> d_gains;
    double d_lead;                         // symbols before the data
    double d_to_the_next_fade, d_fade = 0; // symbols
};

/* Extrinsic ratios of the bits of a label, from the likelihoods of the labels and the
 * decoder's ratios of the bits. Exact. */
void demap(const double* likelihoods, const float* prior, unsigned bits, float* out)
{
    const size_t labels = size_t{ 1 } << bits;
    double weight[256];
    for (size_t l = 0; l < labels; ++l) {
        weight[l] = likelihoods[l];
        for (unsigned b = 0; b < bits; ++b)
            weight[l] += (l >> (bits - 1 - b) & 1 ? -0.5 : 0.5) * double(prior[b]);
    }
    const double most = *std::max_element(weight, weight + labels);
    double sum[2][8] = {}; // of the labels with this bit 0 and 1
    for (size_t l = 0; l < labels; ++l) {
        const double w = std::exp(weight[l] - most);
        for (unsigned b = 0; b < bits; ++b)
            sum[l >> (bits - 1 - b) & 1][b] += w;
    }
    constexpr double least = 1e-300; // keeps logarithms finite
    for (unsigned b = 0; b < bits; ++b) {
        const double ratio =
            std::log(std::max(sum[0][b], least) / std::max(sum[1][b], least));
        out[b] = std::clamp(
            static_cast<float>(ratio) - prior[b], -largest_ratio, largest_ratio);
    }
}

/* Demapper and decoder in turn. The decisions are those of the last round. */
std::vector<uint8_t>
decode(block_decoder& decoder, const std::vector<double>& likelihoods, unsigned bits)
{
    const size_t labels = size_t{ 1 } << bits, symbols = likelihoods.size() / labels;
    std::vector<float> prior(symbols * bits, 0), soft(prior.size()), posterior;
    std::vector<bool> decisions(prior.size()), before;
    for (size_t round = 0; round < max_rounds; ++round) {
        for (size_t i = 0; i < symbols; ++i)
            demap(&likelihoods[i * labels], &prior[i * bits], bits, &soft[i * bits]);
        if (bits == 1)
            break; // nothing to exchange
        decoder.soft_output(soft, posterior);
        before = decisions;
        for (size_t k = 0; k < prior.size(); ++k) {
            decisions[k] = posterior[k] < 0;
            prior[k] = posterior[k] - soft[k];
        }
        if (round > 0 && decisions == before)
            break;
    }
    return decoder.decode(soft).bits;
}

} // namespace

channel_bound_result
channel_bound(const mode& m, const std::string& words, double seconds, uint64_t seed)
{
    const description& d = describe(m);
    const channel c(checked(words, m), grid_of(m).sample_rate(), seed, mean_power(m));
    const double block_s = static_cast<double>(d.block_symbols()) / d.symbol_rate_bd;
    const auto blocks = std::max<size_t>(1, static_cast<size_t>(seconds / block_s));
    const counter_random random(seed, bit_stream);
    const unsigned bits = d.alphabet.bits;
    const size_t labels = size_t{ 1 } << bits;
    lone_symbols air(m, d, c, seed);
    block_encoder encoder(d);
    block_decoder decoder(d);
    std::vector<uint8_t> sent, decoded;
    std::vector<double> likelihoods(d.labels_per_block() * labels);
    // One more block: a running code decides the last bits of a block in the next one.
    for (size_t k = 0; k <= blocks; ++k) {
        for (size_t i = 0; i < d.input_bits; ++i)
            sent.push_back(random.bits(sent.size()) & 1);
        encoder.encode(&sent[k * d.input_bits], k);
        const auto& fetched = encoder.fetched();
        const size_t per_frame = d.unknown / d.chips();
        for (size_t i = 0; i < d.labels_per_block(); ++i) {
            unsigned label = 0;
            for (unsigned b = 0; b < bits; ++b)
                label = label << 1 | fetched[i * bits + b];
            const uint64_t first = d.frame_begin(k * d.frames_per_block + i / per_frame) +
                                   i % per_frame * d.chips();
            air.receive(first,
                        static_cast<uint8_t>(label),
                        d.at(first).value,
                        &likelihoods[i * labels]);
        }
        const auto out = decode(decoder, likelihoods, bits);
        decoded.insert(decoded.end(), out.begin(), out.end());
    }
    channel_bound_result r;
    r.blocks = blocks;
    r.bits = blocks * d.input_bits;
    r.air_s = static_cast<double>(blocks) * block_s;
    for (size_t k = 0; k < blocks; ++k) {
        uint64_t wrong = 0;
        for (size_t i = k * d.input_bits; i < (k + 1) * d.input_bits; ++i)
            wrong += i >= decoded.size() || decoded[i] != sent[i];
        r.errors += wrong;
        r.bad_blocks += wrong > 0;
    }
    return r;
}

} // namespace gr::hf::sim
