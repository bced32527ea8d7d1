/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gr::hf::test {

//! A line of tests/vectors/ale/words.vec.
struct word_vector {
    std::string sequence, text, hex, tones;
};

inline std::vector<word_vector> load_word_vectors()
{
    std::vector<word_vector> all;
    std::ifstream file(HF_VECTORS "/ale/words.vec");
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#')
            continue;
        std::istringstream fields(line);
        word_vector v;
        std::getline(fields, v.sequence, '\t');
        std::getline(fields, v.text, '\t');
        std::getline(fields, v.hex, '\t');
        std::getline(fields, v.tones, '\t');
        all.push_back(v);
    }
    return all;
}

} // namespace gr::hf::test
