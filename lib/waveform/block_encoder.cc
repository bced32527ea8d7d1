/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/block_encoder.h"

namespace gr::hf::kernel {

std::vector<uint8_t> scrambling_of(const description& d, uint64_t block)
{
    std::vector<uint8_t> values;
    values.reserve(d.frames_per_block * d.unknown);
    frame_cursor frames(d);
    frames.seek_block(block);
    for (size_t f = 0; f < d.frames_per_block; ++f) {
        const cell* data = frames.next().data;
        for (size_t i = 0; i < d.unknown; ++i)
            values.push_back(data[i].value);
    }
    return values;
}

void map_block(const description& d,
               const uint8_t* fetched,
               uint64_t block,
               std::vector<uint8_t>& numbers)
{
    const constellation& alphabet = d.alphabet;
    const std::vector<uint8_t> scrambling = scrambling_of(d, block);
    const uint8_t* next = scrambling.data();
    const size_t labels = d.labels_per_block();
    numbers.clear();
    for (size_t i = 0; i < labels; ++i) {
        uint8_t label = 0;
        for (unsigned b = 0; b < alphabet.bits; ++b)
            label = static_cast<uint8_t>(label << 1 | *fetched++);
        if (!d.spread()) {
            numbers.push_back(alphabet.scramble(label, *next++));
            continue;
        }
        // The last word of a block comes from the exceptional set.
        const size_t set = i + 1 == labels ? alphabet.label_to_number.size() : 0;
        for (const uint8_t chip : d.words[set + alphabet.label_to_number[label]])
            numbers.push_back((chip + *next++) & 7);
    }
}

block_encoder::block_encoder(const description& d) : d_d(d), d_encoder(d.code) {}

const std::vector<uint8_t>& block_encoder::encode(const uint8_t* bits, uint64_t block)
{
    d_coded.clear();
    d_encoder.encode(bits, d_d.input_bits, d_coded);
    d_fetched.resize(d_coded.size());
    fetch(d_d.interleave, d_coded.data(), d_fetched.data());
    map_block(d_d, d_fetched.data(), block, d_numbers);
    return d_numbers;
}

} // namespace gr::hf::kernel
