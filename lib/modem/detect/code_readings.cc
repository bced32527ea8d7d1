/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/code_readings.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Lead of another reading's log-likelihood at which it is taken, and at which the readings
// are no longer compared.
constexpr double min_lead = 12, clear_lead = 40;
// The same in deviations of what chance does if neither fits, by what contradicts the better
// one. Chance exceeds it once in 3 million. In a fade the ratios are too large, and chance
// alone leads by more than the numbers above.
constexpr double min_deviations = 5;
// Blocks that are compared at most.
constexpr size_t max_blocks = 64;

// Of an estimate from the point of label \p l, in variances of its error.
float distance(const constellation& c,
               size_t l,
               uint8_t scrambling,
               const symbol_estimate& e)
{
    return std::norm(e.value - c.point(static_cast<uint8_t>(l), scrambling)) / e.error;
}

/* Fit of the estimates if the symbols may be any of the alphabet under this scrambling.
 * Scrambled QAM has the same points in every reading. */
code_fit fit_of(const constellation& c,
                const cell* data,
                const std::vector<symbol_estimate>& estimates)
{
    code_fit f;
    if (c.rule != scrambling::add_mod_8 || c.bits >= 3)
        return f;
    for (size_t i = 0; i < estimates.size(); ++i) {
        const symbol_estimate& e = estimates[i];
        float nearest = 1e30f, nearest_of_all = 1e30f;
        for (size_t l = 0; l < c.label_to_number.size(); ++l)
            nearest = std::min(nearest, distance(c, l, data[i].value, e));
        for (uint8_t shift = 0; shift < 8; ++shift)
            nearest_of_all = std::min(nearest_of_all, distance(c, 0, shift, e));
        double others = 0;
        for (size_t l = 0; l < c.label_to_number.size(); ++l)
            others += std::exp(nearest - distance(c, l, data[i].value, e));
        const double contradicts =
            std::min<double>(nearest - nearest_of_all, code_fit::max_of_one);
        f.likelihood += std::log(others) - contradicts;
        f.variance += contradicts * contradicts;
    }
    return f;
}

} // namespace

//! One reading, and what of the block it has.
struct code_readings::one {
    explicit one(const description& of) : d(of), demapper(of.alphabet) {}

    const description& d;
    const soft_symbols demapper;
    std::unique_ptr<block_decoder> decoder; // made on first use
    std::vector<float> soft;
    std::vector<uint8_t> scrambling;
    code_fit of_symbols; // of the block
    code_fit of_block;   // of its symbols and its code word
    code_fit all;        // of all blocks
};

code_readings::code_readings(const description& d, std::optional<waveform_reading> known)
{
    d_readings.push_back(std::make_unique<one>(d));
    for (const mode& m : d.also_read_as) {
        d_readings.push_back(std::make_unique<one>(describe(m)));
        if (known && m.reading == *known)
            d_chosen = d_readings.size() - 1;
    }
    d_open = d_readings.size() > 1 && !known;
}

code_readings::~code_readings() = default;

const description& code_readings::of(size_t r) const { return d_readings[r]->d; }

void code_readings::frame(size_t r,
                          size_t frame_in_cycle,
                          const std::vector<symbol_estimate>& e)
{
    one& o = *d_readings[r];
    const cell* data = o.d.data_of(frame_in_cycle);
    const unsigned bits = o.d.alphabet.bits;
    size_t at = o.soft.size();
    o.soft.resize(at + bits * e.size());
    for (size_t i = 0; i < e.size(); ++i, at += bits) {
        o.scrambling.push_back(data[i].value);
        o.demapper.soft_bits(data[i].value, e[i], &o.soft[at]);
    }
    o.of_symbols += fit_of(o.d.alphabet, data, e);
}

void code_readings::soft_bits(const std::vector<float>& soft)
{
    for (auto& o : d_readings)
        o->soft = soft;
}

const std::vector<float>& code_readings::soft_bits() const
{
    return d_readings[d_chosen]->soft;
}

const std::vector<uint8_t>& code_readings::scrambling() const
{
    return d_readings[d_chosen]->scrambling;
}

// Of this block.
void code_readings::weigh()
{
    for (auto& o : d_readings) {
        if (!o->decoder)
            o->decoder = std::make_unique<block_decoder>(o->d);
        o->of_block = o->of_symbols;
        o->of_block += o->decoder->fit(o->soft);
    }
}

void code_readings::choose(const std::vector<code_readings*>& others)
{
    std::vector<code_readings*> all{ this };
    all.insert(all.end(), others.begin(), others.end());
    for (code_readings* c : all)
        c->weigh();
    for (size_t r = 0; r < size(); ++r)
        for (const code_readings* c : all)
            d_readings[r]->all += c->d_readings[r]->of_block;
    size_t best = 1;
    for (size_t r = 2; r < size(); ++r)
        if (d_readings[r]->all.likelihood > d_readings[best]->all.likelihood)
            best = r;
    const code_fit &other = d_readings[best]->all, &standard = d_readings[0]->all;
    const double lead = other.likelihood - standard.likelihood;
    const double by_chance =
        min_deviations * std::sqrt(2 * (lead > 0 ? other : standard).variance);
    d_chosen = lead > std::max(min_lead, by_chance) ? best : 0;
    ++d_blocks;
    d_open = std::abs(lead) < std::max(clear_lead, by_chance) && d_blocks < max_blocks;
    for (code_readings* c : others) {
        c->d_chosen = d_chosen;
        c->d_open = d_open;
        c->d_blocks = d_blocks;
        for (size_t r = 0; r < size(); ++r)
            c->d_readings[r]->all = d_readings[r]->all;
    }
}

void code_readings::forget()
{
    for (auto& o : d_readings) {
        o->soft.clear();
        o->scrambling.clear();
        o->of_symbols = o->of_block = {};
        if (!d_open)
            o->decoder.reset();
    }
}

} // namespace gr::hf::kernel
