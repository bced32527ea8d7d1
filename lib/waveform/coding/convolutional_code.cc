/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/coding/convolutional_code.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

namespace {

uint8_t parity(uint32_t x) { return static_cast<uint8_t>(__builtin_parity(x)); }

} // namespace

size_t code_plan::coded_bits(size_t n) const
{
    if (!coded)
        return n;
    const size_t sent = 2 * repetition * n;
    if (puncture.empty())
        return sent;
    size_t kept = 0, partial = 0;
    for (size_t i = 0; i < puncture.size(); ++i) {
        kept += puncture[i];
        partial += i < sent % puncture.size() ? puncture[i] : 0;
    }
    return sent / puncture.size() * kept + partial;
}

code_plan code_plan::reversed() const
{
    const auto turned = [this](uint32_t mask) {
        uint32_t r = 0;
        for (unsigned i = 0; i < constraint_length; ++i)
            r |= (mask >> i & 1) << (constraint_length - 1 - i);
        return r;
    };
    code_plan p = *this;
    p.t1 = turned(t1);
    p.t2 = turned(t2);
    return p;
}

code_plan code_plan::mother() const
{
    code_plan p = *this;
    p.repetition = 1;
    p.puncture.clear();
    return p;
}

bool code_plan::operator==(const code_plan& o) const
{
    return coded == o.coded && constraint_length == o.constraint_length && t1 == o.t1 &&
           t2 == o.t2 && tail_biting == o.tail_biting && repetition == o.repetition &&
           puncture == o.puncture;
}

code_plan serial_tone_code(unsigned repetition)
{
    code_plan p;
    p.coded = true;
    p.repetition = repetition;
    return p;
}

code_plan high_rate_code()
{
    code_plan p;
    p.coded = true;
    p.tail_biting = true;
    p.puncture = { 1, 1, 1, 0, 0, 1 };
    return p;
}

convolutional_encoder::convolutional_encoder(code_plan plan) : d_plan(std::move(plan))
{
    if (d_plan.constraint_length < 2 || d_plan.constraint_length > 16)
        throw std::invalid_argument("convolutional code: constraint length " +
                                    std::to_string(d_plan.constraint_length) +
                                    ", allowed are 2 to 16");
    if (d_plan.repetition < 1)
        throw std::invalid_argument("convolutional code: repetition must be at least 1");
}

void convolutional_encoder::pair(unsigned bit, std::vector<uint8_t>& out)
{
    d_state = d_state >> 1 | bit << (d_plan.constraint_length - 1);
    const uint8_t t[2] = { parity(d_state & d_plan.t1), parity(d_state & d_plan.t2) };
    for (unsigned r = 0; r < d_plan.repetition; ++r) {
        for (const uint8_t b : t) {
            if (d_plan.puncture.empty()) {
                out.push_back(b);
                continue;
            }
            if (d_plan.puncture[d_phase])
                out.push_back(b);
            d_phase = d_phase + 1 < d_plan.puncture.size() ? d_phase + 1 : 0;
        }
    }
}

void convolutional_encoder::encode(const uint8_t* bits,
                                   size_t n,
                                   std::vector<uint8_t>& out)
{
    if (!d_plan.coded) {
        out.insert(out.end(), bits, bits + n);
        return;
    }
    if (!d_plan.tail_biting) {
        for (size_t i = 0; i < n; ++i)
            pair(bits[i] & 1, out);
        return;
    }
    const size_t preload = d_plan.constraint_length - 1;
    if (n < preload)
        throw std::invalid_argument("tail-biting block of " + std::to_string(n) +
                                    " bits, at least " + std::to_string(preload));
    d_state = 0;
    d_phase = 0;
    for (size_t i = 0; i < preload; ++i)
        d_state = d_state >> 1 | (bits[i] & 1u) << preload;
    for (size_t k = 0; k < n; ++k)
        pair(bits[(k + preload) % n] & 1, out);
}

} // namespace gr::hf::kernel
