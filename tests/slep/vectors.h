/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace gr::hf::test {

//! Name and octets of tests/vectors/slep.json, which has one member per line.
inline std::map<std::string, std::vector<uint8_t>> load_vectors()
{
    std::map<std::string, std::vector<uint8_t>> all;
    std::ifstream f(HF_VECTORS "/slep.json");
    std::string line, name;
    const auto value = [&line](const char* key) -> std::string {
        const std::string k = std::string("\"") + key + "\": \"";
        const size_t at = line.find(k);
        if (at == std::string::npos)
            return {};
        const size_t from = at + k.size();
        return line.substr(from, line.rfind('"') - from);
    };
    while (std::getline(f, line)) {
        if (const auto n = value("name"); !n.empty())
            name = n;
        const auto hex = value("hex");
        for (size_t k = 0; k + 1 < hex.size(); k += 2)
            all[name].push_back(
                static_cast<uint8_t>(std::stoi(hex.substr(k, 2), nullptr, 16)));
    }
    return all;
}

} // namespace gr::hf::test
