/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Every golden vector, symbol by symbol, and the stages that the vectors list.
#include "vector_file.h"

#include "waveform/block_encoder.h"
#include "waveform/coding/scrambler.h"
#include "waveform/transmitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

using namespace gr::hf;
using namespace gr::hf::kernel;
using test::vector_file;

namespace {

std::vector<std::string> vector_names()
{
    std::vector<std::string> names;
    for (const auto& e :
         std::filesystem::directory_iterator(std::string(HF_VECTORS) + "/waveform")) {
        const std::string n = e.path().filename().string();
        if (n.find("_prbs_") != std::string::npos ||
            n.find("_text_") != std::string::npos)
            names.push_back(n);
    }
    std::sort(names.begin(), names.end());
    return names;
}

mode mode_of(const vector_file& v)
{
    const mode m =
        mode::parse("4539-" + v.fields.at("rate") + v.fields.at("interleaver"));
    EXPECT_EQ(m.family == waveform_family::serial_tone,
              v.fields.at("family") == "serial-tone");
    return m;
}

std::vector<uint8_t> pack(const std::vector<uint16_t>& bits)
{
    std::vector<uint8_t> octets((bits.size() + 7) / 8);
    for (size_t i = 0; i < bits.size(); ++i)
        octets[i / 8] |= static_cast<uint8_t>(bits[i] << i % 8);
    return octets;
}

struct sent {
    std::vector<tx_symbol> symbols;
    bool complete = false; // the transmission ended by itself
};

// At most `limit` symbols of a transmission of these octets.
sent transmit(const mode& m, tx_options o, std::vector<uint8_t> octets, size_t limit)
{
    transmitter tx(m, o);
    sent s;
    s.symbols.resize(limit);
    size_t made = 0, given = 0;
    while (made < limit && !tx.done()) {
        if (const size_t wanted = tx.octets_wanted()) {
            const size_t n = std::min(wanted, octets.size() - given);
            tx.give(octets.data() + given, n, given + n == octets.size());
            given += n;
        }
        made += tx.produce(s.symbols.data() + made, limit - made);
    }
    s.symbols.resize(made);
    s.complete = tx.done();
    return s;
}

struct tally {
    size_t symbols = 0, differences = 0, kinds = 0;
};

tally compare(const std::string& name)
{
    const vector_file v(name);
    const mode m = mode_of(v);
    tx_options o;
    o.agc_blocks = std::stoi(v.fields.at("agc_blocks"));
    const bool eom = v.fields.at("eom") == "1";
    const bool high_rate = m.family == waveform_family::high_rate;
    o.eom =
        eom || !high_rate; // the serial tone cannot leave it out: compare the beginning
    const auto& want = v.array("symbols");
    const sent s = transmit(m, o, pack(v.array("input_bits")), want.size());
    EXPECT_EQ(s.symbols.size(), want.size()) << name;
    EXPECT_EQ(s.complete, eom || high_rate) << name;
    const description& d = describe(m);

    tally t;
    for (size_t i = 0; i < std::min(want.size(), s.symbols.size()); ++i) {
        const tx_symbol& got = s.symbols[i];
        ++t.symbols;
        t.differences += got.number != (want[i] & 0x7F);
        if (high_rate)
            t.kinds += is_known(got.kind) != !(want[i] & 0x80);
        const auto& points = is_known(got.kind) ? d.known_points : d.alphabet.points;
        EXPECT_EQ(got.value, points[got.number]);
    }
    EXPECT_EQ(t.differences, 0u) << name;
    EXPECT_EQ(t.kinds, 0u) << name;
    return t;
}

} // namespace

TEST(golden, all_vectors_symbol_by_symbol)
{
    size_t vectors = 0, symbols[2] = { 0, 0 };
    for (const auto& name : vector_names()) {
        ++vectors;
        symbols[name[0] == 'h'] += compare(name).symbols;
    }
    EXPECT_EQ(vectors, 70u);
    EXPECT_EQ(symbols[0], 509760u);
    EXPECT_EQ(symbols[1], 857264u);
    std::printf("%zu vectors: %zu serial-tone and %zu high-rate symbols compared\n",
                vectors,
                symbols[0],
                symbols[1]);
}

TEST(golden, stages_of_the_first_block)
{
    size_t vectors = 0, bits = 0;
    for (const auto& name : vector_names()) {
        const vector_file v(name);
        const bool serial = v.arrays.count("block1_coded") > 0;
        if (!serial && v.arrays.count("block1_punctured") == 0)
            continue;
        ++vectors;
        const auto m = mode_of(v);
        const description& d = describe(m);
        block_encoder encoder(d);
        const auto& input = v.array("input_bits");
        const std::vector<uint8_t> in(
            input.begin(), input.begin() + static_cast<std::ptrdiff_t>(d.input_bits));
        encoder.encode(in.data(), 0);
        const auto same = [&](const std::vector<uint8_t>& got, const char* stage) {
            const auto& want = v.array(stage);
            ASSERT_EQ(got.size(), want.size()) << name << " " << stage;
            EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin()))
                << name << " " << stage;
            bits += got.size();
        };
        same(encoder.coded(), serial ? "block1_coded" : "block1_punctured");
        same(encoder.fetched(), serial ? "block1_fetched" : "block1_interleaved");
        if (serial)
            continue;
        code_plan whole = d.code;
        whole.puncture.clear();
        convolutional_encoder unpunctured(whole);
        std::vector<uint8_t> out;
        unpunctured.encode(in.data(), in.size(), out);
        same(out, "block1_tail_biting_rate12");
    }
    EXPECT_EQ(vectors, 19u);
    std::printf("%zu vectors: %zu bits of inner stages compared\n", vectors, bits);
}

TEST(golden, serial_tone_scrambling_of_the_first_block)
{
    size_t symbols = 0;
    const auto& scrambler = serial_tone_data_scrambler();
    for (const auto& name : vector_names()) {
        const vector_file v(name);
        if (v.arrays.count("block1_tribits_before_scrambling") == 0)
            continue;
        const auto m = mode_of(v);
        const description& d = describe(m);
        const auto& plain = v.array("block1_tribits_before_scrambling");
        const auto& air = v.array("symbols");
        for (size_t i = 0; i < plain.size(); ++i, ++symbols) {
            const auto number = air[d.preamble.size() + i];
            ASSERT_EQ((plain[i] + scrambler[i % 160]) % 8, number) << name << " " << i;
            const cell& c = d.at(i);
            if (is_known(c.kind)) {
                ASSERT_EQ(c.value, number) << name << " " << i;
            }
        }
    }
    EXPECT_EQ(symbols, 8 * 1440u + 6 * 11520u);
}
