/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/deflate.h"
#include "slep/dictionaries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>
#include <zlib.h>

namespace gr::hf::test {
namespace {

using octets = std::vector<uint8_t>;

TEST(slep_deflate, gives_up_on_what_does_not_shrink_and_tries_again)
{
    slep::deflater z;
    slep::inflater back;
    std::mt19937 rng(3);
    octets expected, got;
    size_t noise = 0, noise_out = 0, text_out = 0;
    for (int k = 0; k < 4000; ++k) {
        const bool text = k > 2500; // 2.5 MB of noise, then something to gain
        octets in(1 + rng() % 2000, 'a');
        if (!text)
            for (auto& o : in)
                o = uint8_t(rng());
        using flush = slep::deflater::flush;
        octets out;
        const bool sync = rng() % 3 == 0;
        z.run(in.data(), in.size(), sync ? flush::sync : flush::none, out);
        if (k == 3999)
            z.run(nullptr, 0, flush::last, out);
        (text ? text_out : noise_out) += out.size();
        noise += text ? 0 : in.size();
        expected.insert(expected.end(), in.begin(), in.end());
        const auto plain = back.run(out.data(), out.size(), 1 << 22);
        ASSERT_TRUE(plain);
        got.insert(got.end(), plain->begin(), plain->end());
        ASSERT_LE(got.size(), expected.size());
        ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
        if (sync || k == 3999) {
            ASSERT_EQ(got.size(), expected.size());
            got.clear();
            expected.clear();
        }
    }
    EXPECT_LT(noise_out, noise + noise / 100);
    EXPECT_LT(text_out, 1'200'000u); // up to a megabyte stored, the rest shrinks
}

//! Octets that messages take, each flushed. The decompressed text is checked.
size_t flushed(const std::vector<std::string>& messages)
{
    slep::deflater z;
    slep::inflater back;
    size_t size = 0;
    for (const auto& m : messages) {
        octets out;
        z.run(reinterpret_cast<const uint8_t*>(m.data()),
              m.size(),
              slep::deflater::flush::sync,
              out);
        size += out.size();
        const auto plain = back.run(out.data(), out.size(), 1 << 22);
        EXPECT_TRUE(plain && std::string(plain->begin(), plain->end()) == m);
    }
    return size;
}

TEST(slep_deflate, digits_are_not_spoilt_by_short_matches)
{
    std::mt19937 rng(5);
    std::vector<std::string> messages;
    size_t digits = 0;
    for (int k = 0; k < 200; ++k) {
        std::string body;
        for (int i = 0; i < 1024; ++i)
            body += "0123456789abcdef"[rng() % 16];
        digits += body.size();
        messages.push_back("<message id='" + std::to_string(k) + "'><body>" + body +
                           "</body></message>");
    }
    // Half of the digits is what they say; zlib's default strategy makes 61 %.
    EXPECT_LT(static_cast<double>(flushed(messages)), 0.55 * static_cast<double>(digits));
}

TEST(slep_deflate, text_changes_to_digits_and_back)
{
    std::mt19937 rng(6);
    const std::string words[] = { "antenna ", "carrier ", "fading ", "hop ", "noise " };
    std::vector<std::string> messages;
    size_t all = 0;
    for (int k = 0; k < 300; ++k) {
        std::string m;
        while (m.size() < 900)
            m += k / 50 % 2 == 0 ? words[rng() % 5] : std::to_string(rng());
        all += m.size();
        messages.push_back(m);
    }
    EXPECT_LT(flushed(messages), 2 * all / 5);
}

uint32_t crc_of(std::string_view v)
{
    return uint32_t(
        crc32(0, reinterpret_cast<const Bytef*>(v.data()), static_cast<uInt>(v.size())));
}

TEST(slep_deflate, preset_dictionaries_never_change)
{
    EXPECT_EQ(crc_of(slep::preset_dictionary(slep::preset_http)), 0xeaabc57eu);
    EXPECT_EQ(crc_of(slep::preset_dictionary(slep::preset_xmpp)), 0x1fa1d4abu);
    for (const uint8_t number : { slep::preset_http, slep::preset_xmpp }) {
        // No more than the window of DEFLATE, and no octet that a source file could alter.
        const auto words = slep::preset_dictionary(number);
        EXPECT_LE(words.size(), 32'768u);
        EXPECT_TRUE(std::all_of(words.begin(), words.end(), [](char c) {
            return c == '\r' || c == '\n' || (c >= ' ' && c <= '~');
        }));
    }
    EXPECT_TRUE(slep::preset_dictionary(slep::preset_none).empty());
    EXPECT_TRUE(slep::preset_dictionary(3).empty());
    EXPECT_FALSE(slep::preset_known(3));
}

TEST(slep_deflate, the_first_message_shrinks_with_its_dictionary)
{
    const std::string request =
        "GET /weather/today HTTP/1.1\r\nHost: metoffice.example\r\n"
        "User-Agent: lynx/2.9\r\nAccept: text/html, */*\r\n"
        "Accept-Encoding: gzip\r\nConnection: keep-alive\r\n\r\n";
    const std::string stanza =
        "<message from='bridge@ship.example/pc' to='ops@shore.example' "
        "id='a17' type='chat'><body>ETA 0600Z</body><request "
        "xmlns='urn:xmpp:receipts'/></message>";
    for (const auto& [text, number] : { std::pair(request, slep::preset_http),
                                        std::pair(stanza, slep::preset_xmpp) }) {
        const auto squeeze = [&text = text](uint8_t dictionary) {
            octets out;
            slep::deflater(dictionary)
                .run(reinterpret_cast<const uint8_t*>(text.data()),
                     text.size(),
                     slep::deflater::flush::sync,
                     out);
            return out;
        };
        const auto small = squeeze(number);
        EXPECT_LT(small.size(), squeeze(slep::preset_none).size() * 6 / 10) << text;
        EXPECT_LT(small.size(), text.size() / 2) << text;
        const auto back = slep::inflater(number).run(small.data(), small.size(), 1 << 20);
        ASSERT_TRUE(back);
        EXPECT_EQ(std::string(back->begin(), back->end()), text);
        // With another dictionary it is damaged, or at least not the same.
        const auto wrong = slep::inflater().run(small.data(), small.size(), 1 << 20);
        EXPECT_TRUE(!wrong || std::string(wrong->begin(), wrong->end()) != text);
    }
}

} // namespace
} // namespace gr::hf::test
