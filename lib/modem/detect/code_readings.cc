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
// Blocks that are compared at most.
constexpr size_t max_blocks = 64;

// Of an estimate from the point of label \p l, in variances of its error.
float distance(const constellation& c,
               size_t l,
               const cell& data,
               const symbol_estimate& e)
{
    return std::norm(e.value - c.point(static_cast<uint8_t>(l), data.value)) / e.error;
}

/* Log-likelihood of the estimates if the symbols may be any of the alphabet under this
 * scrambling. Scrambled QAM has the same points in every reading. */
double likelihood_of(const constellation& c,
                     const cell* data,
                     const std::vector<symbol_estimate>& estimates)
{
    if (c.rule != scrambling::add_mod_8 || c.bits >= 3)
        return 0;
    double sum = 0;
    for (size_t i = 0; i < estimates.size(); ++i) {
        const symbol_estimate& e = estimates[i];
        float nearest = 1e30f;
        for (size_t l = 0; l < c.label_to_number.size(); ++l)
            nearest = std::min(nearest, distance(c, l, data[i], e));
        double others = 0;
        for (size_t l = 0; l < c.label_to_number.size(); ++l)
            others += std::exp(nearest - distance(c, l, data[i], e));
        sum += std::log(others) - nearest;
    }
    return sum;
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
    double of_symbols = 0; // log-likelihood of the block's symbols
    double of_block = 0;   // and of its code word
    double all = 0;        // of all blocks
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
    o.of_symbols += likelihood_of(o.d.alphabet, data, e);
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
        o->of_block = o->of_symbols + o->decoder->likelihood(o->soft);
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
        if (d_readings[r]->all > d_readings[best]->all)
            best = r;
    const double lead = d_readings[best]->all - d_readings[0]->all;
    d_chosen = lead > min_lead ? best : 0;
    ++d_blocks;
    d_open = std::abs(lead) < clear_lead && d_blocks < max_blocks;
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
        o->of_symbols = o->of_block = 0;
        if (!d_open)
            o->decoder.reset();
    }
}

} // namespace gr::hf::kernel
