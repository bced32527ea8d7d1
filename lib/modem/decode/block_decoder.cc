/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/block_decoder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace gr::hf::kernel {

namespace {

// Place in T1 T2 T1 T2 ... of each coded bit, in the order of the encoder.
std::vector<uint32_t> places_in_pairs(const description& d)
{
    std::vector<uint32_t> place;
    place.reserve(d.coded_bits);
    if (!d.code.coded) {
        for (uint32_t i = 0; i < d.coded_bits; ++i)
            place.push_back(i);
        return place;
    }
    size_t phase = 0;
    for (uint32_t k = 0; k < d.input_bits; ++k)
        for (unsigned r = 0; r < d.code.repetition; ++r)
            for (uint32_t b = 0; b < 2; ++b) {
                const bool keep = d.code.puncture.empty() ||
                                  d.code.puncture[phase++ % d.code.puncture.size()];
                if (keep)
                    place.push_back(2 * k + b);
            }
    return place;
}

/* Agreement of noise with the best code word, by the rate of the code; repeated bits
 * count once. Measured on Gaussian noise with the masks of 110C table D-XLII, by the test
 * block_decoder.noise_has_no_quality. */
struct agreement {
    double rate, k7, k9;
};
constexpr agreement of_noise[] = {
    { 1 / 2.0, 0.855, 0.862 },  { 9 / 16.0, 0.890, 0.895 }, { 2 / 3.0, 0.938, 0.940 },
    { 3 / 4.0, 0.963, 0.965 },  { 4 / 5.0, 0.977, 0.978 },  { 5 / 6.0, 0.984, 0.985 },
    { 8 / 9.0, 0.9925, 0.993 }, { 9 / 10.0, 0.994, 0.994 },
};

double agreement_of_noise(double rate, unsigned constraint_length)
{
    const auto value = [constraint_length](const agreement& a) {
        return constraint_length == 9 ? a.k9 : a.k7;
    };
    const auto* above =
        std::find_if(std::begin(of_noise),
                     std::end(of_noise) - 1,
                     [rate](const agreement& a) { return a.rate >= rate; });
    if (above == std::begin(of_noise))
        return value(*above);
    const auto* below = above - 1;
    return value(*above) - std::max(above->rate - rate, 0.0) /
                               (above->rate - below->rate) *
                               (value(*above) - value(*below));
}

} // namespace

block_decoder::block_decoder(const description& d)
    : d_d(d), d_viterbi(d.code), d_mother(d.code.mother()), d_encoder(d_mother),
      d_soft(d.code), d_begin(d_soft.at_zero())
{
    const auto place = places_in_pairs(d);
    d_pair_index.resize(d.coded_bits);
    for (size_t n = 0; n < d.coded_bits; ++n)
        d_pair_index[n] = place[d.interleave[n]];
    std::vector<uint8_t> received(2 * d.input_bits, 0);
    for (const uint32_t at : d_pair_index)
        if (at < received.size())
            received[at] = 1;
    const auto distinct = std::accumulate(received.begin(), received.end(), size_t{ 0 });
    d_by_chance =
        agreement_of_noise(static_cast<double>(d.input_bits) /
                               static_cast<double>(std::max<size_t>(1, distinct)),
                           d.code.constraint_length);
    d_viterbi.reset();
}

void block_decoder::to_pairs(const std::vector<float>& soft)
{
    d_pairs.assign(2 * d_d.input_bits, 0);
    for (size_t i = 0; i < std::min(soft.size(), d_pair_index.size()); ++i)
        d_pairs[d_pair_index[i]] += soft[i];
}

void block_decoder::soft_output(const std::vector<float>& soft,
                                std::vector<float>& posterior)
{
    if (!d_d.code.coded) {
        posterior = soft;
        return;
    }
    to_pairs(soft);
    if (d_d.code.tail_biting) {
        d_soft.decode_tail_biting(d_pairs.data(), d_d.input_bits, d_posterior);
    } else {
        d_end =
            d_soft.decode_running(d_pairs.data(), d_d.input_bits, d_begin, d_posterior);
        d_end_known = true;
    }
    posterior.resize(d_pair_index.size());
    for (size_t i = 0; i < posterior.size(); ++i)
        posterior[i] = d_posterior[d_pair_index[i]];
}

code_fit block_decoder::fit(const std::vector<float>& soft)
{
    code_fit f;
    if (!d_d.code.tail_biting)
        return f;
    to_pairs(soft);
    std::vector<uint8_t> bits, coded;
    d_viterbi.decode_tail_biting(d_pairs.data(), d_d.input_bits, bits);
    d_encoder.encode(bits.data(), bits.size(), coded);
    for (size_t i = 0; i < soft.size(); ++i) {
        const double ratio =
            std::clamp<double>(soft[i], -code_fit::max_of_one, code_fit::max_of_one);
        const double agrees = coded[d_pair_index[i]] != 0 ? -ratio : ratio;
        const double contradicts = std::min(agrees, 0.0);
        // log(2 / (1 + exp(-x))), without overflow
        f.likelihood += contradicts + std::log(2 / (1 + std::exp(-std::abs(agrees))));
        f.variance += contradicts * contradicts;
    }
    return f;
}

decoded_block block_decoder::decode(const std::vector<float>& soft,
                                    const std::vector<float>& evidence)
{
    decoded_block out;
    const size_t n = d_d.input_bits;
    if (!d_d.code.coded) {
        double sum = 0;
        for (size_t i = 0; i < soft.size(); ++i) {
            out.bits.push_back(!(soft[i] > 0)); // an erased one, too
            sum += std::tanh(std::abs(soft[i]) / 2);
        }
        out.quality = soft.empty() ? 0 : sum / static_cast<double>(soft.size());
        return out;
    }
    to_pairs(soft);
    if (d_end_known) { // from the last iteration: as good as the state of this block
        d_begin = d_end;
        d_end_known = false;
    }
    if (d_d.code.tail_biting) {
        d_waiting.clear();
        d_viterbi.decode_tail_biting(d_pairs.data(), n, out.bits);
    } else {
        d_viterbi.decode_running(d_pairs.data(), n, out.bits);
    }
    if (&evidence != &soft)
        to_pairs(evidence);
    if (!d_d.code.tail_biting)
        out.pairs = d_pairs;
    d_waiting.insert(d_waiting.end(), d_pairs.begin(), d_pairs.end());
    compare(out);
    return out;
}

// Encode again and compare with the soft bits.
void block_decoder::compare(decoded_block& b)
{
    std::vector<uint8_t> coded;
    if (b.bits.size() + 1 >= d_mother.constraint_length)
        d_encoder.encode(b.bits.data(), b.bits.size(), coded);
    double agree = 0, total = 1e-30;
    size_t received = 0, wrong = 0; // punctured bits are not received
    for (size_t i = 0; i < coded.size(); ++i) {
        const float l = d_waiting[i];
        total += std::abs(l);
        agree += coded[i] ? -l : l;
        received += l != 0;
        wrong += l != 0 && (l < 0) != (coded[i] != 0);
    }
    if (received > 0)
        b.coded_ber = static_cast<double>(wrong) / static_cast<double>(received);
    d_waiting.erase(d_waiting.begin(),
                    d_waiting.begin() + static_cast<long>(coded.size()));
    b.compared = received;
    b.agreement = agree / total;
    b.quality = std::clamp((b.agreement - d_by_chance) / (1 - d_by_chance), 0.0, 1.0);
}

} // namespace gr::hf::kernel
