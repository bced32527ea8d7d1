/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/reception.h"
#include "ale/vectors.h"
#include "modem/burst_modulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace gr::hf::test {
namespace {

// Paths that arrive 1 ms apart are not noise (Moderate of ITU-R F.1487).
TEST(receiver, the_snr_of_a_fading_channel_is_measured)
{
    for (const int snr_db : { 5, 20 }) {
        double sum = 0;
        size_t words = 0;
        for (uint64_t seed = 1; seed <= 10; ++seed)
            for (const auto& e : received(through(
                     sent(call(5)), "moderate snr=" + std::to_string(snr_db), seed)))
                if (e.what == rx_event::kind::word) {
                    sum += static_cast<double>(e.snr_db);
                    ++words;
                }
        ASSERT_GT(words, 100u);
        EXPECT_NEAR(sum / static_cast<double>(words), snr_db, 2.5);
    }
}

TEST(receiver, golden_sequences)
{
    std::map<std::string, std::vector<word>> sequences;
    for (const auto& v : load_word_vectors())
        sequences[v.sequence].push_back(*word::parse(v.text));
    size_t checked = 0;
    for (auto [name, words] : sequences) {
        // A transmission starts with an address. Alone, others cannot be told in time.
        if (!is_routing(words.front().kind))
            words.insert(words.begin(), { preamble::to, { 'J', 'O', 'E' } });
        std::vector<std::string> expected;
        for (const auto& w : words)
            expected.push_back(w.to_string());
        EXPECT_EQ(texts(received(through(sent(words), "awgn snr=10"))), expected) << name;
        ++checked;
    }
    EXPECT_EQ(checked, 19u);
}

TEST(receiver, any_frequency_offset)
{
    const std::vector<std::string> expected{ "TO:JOE", "TO:JOE", "TIS:SAM" };
    for (const int offset : { -100, -77, -16, 0, 47, 100 }) {
        const auto events = received(
            through(sent(call()), "awgn snr=0 offset=" + std::to_string(offset)));
        EXPECT_EQ(texts(events), expected) << offset;
        ASSERT_FALSE(events.empty());
        EXPECT_NEAR(events.front().offset_hz, offset, 5);
        EXPECT_NEAR(events.front().start_s, 0.5, 0.003);
    }
}

TEST(receiver, words_do_not_depend_on_how_samples_are_cut)
{
    const auto x = through(sent(call(3)), "good snr=0");
    const auto whole = received(x, x.size());
    const auto cut = received(x, 7);
    EXPECT_GT(whole.size(), 5u);
    ASSERT_EQ(whole.size(), cut.size());
    for (size_t k = 0; k < whole.size(); ++k) {
        EXPECT_EQ(whole[k].text, cut[k].text);
        EXPECT_EQ(whole[k].start_s, cut[k].start_s);
    }
}

TEST(receiver, snr_is_measured)
{
    for (const int snr : { -5, 0, 5, 10, 15 }) {
        const auto events =
            received(through(sent(call(10)), "awgn snr=" + std::to_string(snr)));
        double sum = 0;
        int n = 0;
        for (const auto& e : events)
            if (e.what == rx_event::kind::word) {
                sum += e.snr_db;
                ++n;
            }
        ASSERT_GT(n, 20);
        EXPECT_NEAR(sum / n, snr, 1.5);
    }
}

TEST(receiver, a_call_is_entered_anywhere)
{
    auto x = sent(call(10), 0, 1.5);
    x.erase(x.begin(), x.begin() + static_cast<ptrdiff_t>(3.1 * rate));
    const auto found = texts(received(through(x, "awgn snr=-3")));
    ASSERT_GE(found.size(), 14u);
    EXPECT_EQ(found.front(), "TO:JOE");
    EXPECT_EQ(found.back(), "TIS:SAM");
}

// No track starts with the first word of this call, which is too weak for that.
TEST(receiver, a_word_before_the_one_that_starts_a_track_is_read)
{
    auto x = sent(call());
    for (size_t k = 0; k < static_cast<size_t>(rate * (0.5 + word_s)); ++k)
        x[k] *= 0.4f;
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed)
        for (const auto& e : received(through(x, "awgn snr=-3", seed)))
            read += e.what == rx_event::kind::word && std::abs(e.start_s - 0.5) < 0.02;
    EXPECT_GE(read, 9u); // 14 of 20. Without those before: 2.
}

TEST(receiver, another_transmission_replaces_one_that_ended)
{
    auto x = sent(call(), 0.5, 0.15);
    const auto more = sent({ { preamble::to, { 'S', 'A', 'M' } },
                             { preamble::to, { 'S', 'A', 'M' } },
                             { preamble::tis, { 'J', 'O', 'E' } } },
                           0,
                           1.5);
    x.insert(x.end(), more.begin(), more.end());
    const std::vector<std::string> expected{ "TO:JOE", "TO:JOE", "TIS:SAM",
                                             "TO:SAM", "TO:SAM", "TIS:JOE" };
    EXPECT_EQ(texts(received(through(x, "awgn snr=0"))), expected);
}

TEST(receiver, no_word_in_noise_or_silence)
{
    samples x(static_cast<size_t>(120 * rate));
    EXPECT_TRUE(received(x).empty());
    EXPECT_TRUE(received(through(x, "awgn snr=0")).empty());
}

TEST(receiver, no_word_in_the_data_modem)
{
    for (const auto* m : { "4539-75S", "4539-600S", "4539-3200S" }) {
        size_t left = 400;
        kernel::burst_modulator modulator(rate);
        modulator.start(mode::parse(m),
                        [&left](uint64_t, size_t room) {
                            tx_octets o;
                            o.octets.assign(std::min(room, left), 0x55);
                            left -= o.octets.size();
                            o.last = left == 0;
                            return o;
                        },
                        {});
        samples x(1 << 20);
        x.resize(modulator.produce(x.data(), x.size()));
        EXPECT_GT(x.size(), 5000u);
        EXPECT_TRUE(texts(received(through(x, "awgn snr=20"))).empty()) << m;
    }
}

TEST(receiver, samples_that_are_not_finite_do_no_harm)
{
    auto x = sent(call());
    x[100] = { std::numeric_limits<float>::quiet_NaN(), 0 };
    x[200] = { 0, std::numeric_limits<float>::infinity() };
    x[300] = { 1e30f, 0 };
    EXPECT_EQ(texts(received(x)).size(), 3u);
}

} // namespace
} // namespace gr::hf::test
