/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gr::hf::s5066 {

using octets = std::vector<uint8_t>;

inline octets from_hex(const std::string& s)
{
    octets v;
    for (size_t i = 0; i + 1 < s.size(); i += 2) {
        v.push_back(
            static_cast<uint8_t>(std::strtoul(s.substr(i, 2).c_str(), nullptr, 16)));
    }
    return v;
}

inline std::string to_hex(const octets& v)
{
    static const char* digits = "0123456789abcdef";
    std::string s;
    for (const uint8_t o : v) {
        s += digits[o >> 4];
        s += digits[o & 15];
    }
    return s;
}

//! One golden PDU: its octets and the expected values of its fields.
struct golden {
    std::string id;
    std::string layer;
    octets hex;
    std::map<std::string, std::string> fields;
};

//! The golden PDUs of one layer ("sis", "spdu", "cpdu", "dts").
inline std::vector<golden> load_golden(const std::string& layer)
{
    std::vector<golden> all;
    std::ifstream in(HF_VECTORS "/s5066.vec");
    std::string line;
    golden g;
    while (std::getline(in, line)) {
        std::istringstream s(line);
        std::string word, name;
        s >> word;
        if (word == "vector") {
            g = golden();
            s >> g.id >> g.layer;
        } else if (word == "hex") {
            s >> name;
            g.hex = from_hex(name);
        } else if (word == "field") {
            s >> name;
            std::getline(s >> std::ws, g.fields[name]);
        } else if (g.layer == layer) {
            all.push_back(g);
        }
    }
    return all;
}

} // namespace gr::hf::s5066
