/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::test {

//! A golden vector; the format is described in tests/vectors/convert.py.
struct vector_file {
    std::map<std::string, std::string> fields;
    std::map<std::string, std::vector<uint16_t>> arrays;

    explicit vector_file(const std::string& name)
    {
        std::ifstream in(std::string(HF_VECTORS) + "/waveform/" + name, std::ios::binary);
        std::string line;
        if (!std::getline(in, line) || line != "hfvec 1")
            throw std::runtime_error("not a vector file: " + name);
        struct entry {
            std::string name, type;
            size_t count = 0;
        };
        std::vector<entry> entries;
        while (std::getline(in, line) && line != "data") {
            std::istringstream words(line);
            std::string key;
            words >> key;
            if (key == "array") {
                entry e;
                words >> e.name >> e.count >> e.type;
                entries.push_back(e);
            } else {
                words >> fields[key];
            }
        }
        const auto octet = [&in] { return static_cast<uint16_t>(in.get() & 0xFF); };
        for (const entry& e : entries) {
            auto& a = arrays[e.name];
            uint16_t packed = 0;
            for (size_t i = 0; i < e.count; ++i) {
                if (e.type == "bits") {
                    packed = i % 8 ? packed >> 1 : octet();
                    a.push_back(packed & 1);
                } else if (e.type == "u8") {
                    a.push_back(octet());
                } else {
                    const uint16_t low = octet();
                    a.push_back(static_cast<uint16_t>(low | octet() << 8));
                }
            }
        }
        if (!in)
            throw std::runtime_error("short vector file: " + name);
    }

    const std::vector<uint16_t>& array(const std::string& name) const
    {
        return arrays.at(name);
    }
};

//! The rows of a table; fields are quoted nowhere.
inline std::vector<std::vector<std::string>> read_csv(const std::string& name)
{
    std::ifstream in(std::string(HF_VECTORS) + "/waveform/" + name);
    std::string line;
    if (!std::getline(in, line)) // names of the columns
        throw std::runtime_error("no table " + name);
    std::vector<std::vector<std::string>> rows;
    while (std::getline(in, line)) {
        while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
            line.pop_back();
        std::vector<std::string> row(1);
        for (const char c : line) {
            if (c == ',')
                row.emplace_back();
            else
                row.back() += c;
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace gr::hf::test
