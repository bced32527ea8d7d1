/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/block_encoder.h"

namespace gr::hf::kernel {

block_encoder::block_encoder(const description& d) : d_d(d), d_encoder(d.code) {}

const std::vector<uint8_t>& block_encoder::encode(const uint8_t* bits, uint64_t block)
{
    d_coded.clear();
    d_encoder.encode(bits, d_d.input_bits, d_coded);

    d_fetched.clear();
    for (size_t n = 0; n < d_d.interleave.size(); ++n)
        d_fetched.push_back(d_coded[d_d.interleave[n]]);

    d_numbers.clear();
    const constellation& alphabet = d_d.alphabet;
    const size_t labels = d_d.labels_per_block();
    const uint8_t* bit = d_fetched.data();
    frame_cursor frames(d_d);
    frames.seek_block(block);
    const cell* place = nullptr;
    size_t left = 0;
    const auto next_scrambling = [&] {
        if (left == 0) {
            place = frames.next().data;
            left = d_d.unknown;
        }
        --left;
        return place++->value;
    };
    for (size_t i = 0; i < labels; ++i) {
        uint8_t label = 0;
        for (unsigned b = 0; b < alphabet.bits; ++b)
            label = static_cast<uint8_t>(label << 1 | *bit++);
        if (!d_d.spread()) {
            d_numbers.push_back(alphabet.scramble(label, next_scrambling()));
            continue;
        }
        // The last word of a block comes from the exceptional set.
        const size_t set = i + 1 == labels ? alphabet.label_to_number.size() : 0;
        for (const uint8_t chip : d_d.words[set + alphabet.label_to_number[label]])
            d_numbers.push_back((chip + next_scrambling()) & 7);
    }
    return d_numbers;
}

} // namespace gr::hf::kernel
