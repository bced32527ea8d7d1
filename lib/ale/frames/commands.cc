/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/commands.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

constexpr int no_multipath = 7, no_sinad = 31, no_bit_errors = 31;

std::string join(const std::vector<word>& words)
{
    std::string s;
    for (const auto& w : words)
        s += (s.empty() ? "" : " ") + w.to_string();
    return s;
}

std::string characters(const std::vector<word>& words)
{
    std::string s;
    for (const auto& w : words)
        s.append(w.text.begin(), w.text.end());
    s.erase(s.find_last_not_of(std::string(" \0", 2)) + 1);
    return s;
}

std::string escaped(const std::string& text)
{
    std::string s;
    for (const char c : text) {
        const std::string one =
            word{ preamble::data, { c, 'A', 'A' } }.to_string().substr(5);
        s += one.substr(0, one.size() - 2);
    }
    return s;
}

std::string text_of(const lqa& report)
{
    std::string s = "LQA";
    if (report.sinad_db)
        s += " " + std::to_string(*report.sinad_db) + " dB";
    if (report.bit_errors)
        s += " " + std::to_string(*report.bit_errors) + " bit errors";
    if (report.multipath_ms)
        s += " " + std::to_string(*report.multipath_ms) + " ms";
    return report.wanted ? s + " wanted" : s;
}

} // namespace

word encode(const lqa& report)
{
    const int mp = std::clamp(report.multipath_ms.value_or(no_multipath), 0, 7);
    const int sinad = report.sinad_db ? std::clamp(*report.sinad_db, 0, 30) : no_sinad;
    const int errors =
        report.bit_errors ? std::clamp(*report.bit_errors, 0, 30) : no_bit_errors;
    const int bits = int(report.wanted) << 13 | mp << 10 | sinad << 5 | errors;
    return { preamble::cmd,
             { 'a', static_cast<char>(bits >> 7), static_cast<char>(bits & 0x7f) } };
}

std::optional<lqa> read_lqa(const word& w)
{
    if (w.kind != preamble::cmd || w.text[0] != 'a')
        return std::nullopt;
    const int bits = w.text[1] << 7 | w.text[2];
    const auto known = [](int value, int none) {
        return value == none ? std::nullopt : std::optional(value);
    };
    lqa report;
    report.wanted = bits >> 13 & 1;
    report.multipath_ms = known(bits >> 10 & 7, no_multipath);
    report.sinad_db = known(bits >> 5 & 31, no_sinad);
    report.bit_errors = known(bits & 31, no_bit_errors);
    return report;
}

std::vector<word> text_words(const std::string& text)
{
    if (text.empty() || text.size() > longest_text)
        throw std::invalid_argument("text of " + std::to_string(text.size()) +
                                    " characters: allowed are 1 to " +
                                    std::to_string(longest_text));
    std::vector<word> words;
    for (size_t at = 0; at < text.size(); at += 3) {
        word w;
        w.kind = words.empty()           ? preamble::cmd
                 : words.size() % 2 == 1 ? preamble::data
                                         : preamble::rep;
        for (size_t k = 0; k < 3; ++k) {
            char c = at + k < text.size() ? text[at + k] : ' ';
            if (c >= 'a' && c <= 'z')
                c = static_cast<char>(c - 'a' + 'A');
            if (!is_expanded(c))
                throw std::invalid_argument(
                    "character '" + std::string(1, c) +
                    "' in the text: allowed are letters, digits and "
                    "!\"#$%&'()*+,-./:;<=>?@[\\]^_ and space");
            w.text[k] = c;
        }
        words.push_back(w);
    }
    return words;
}

uint16_t message_crc(const std::vector<word>& words)
{
    constexpr uint16_t polynomial = 0x1021;
    uint16_t crc = 0xffff;
    for (const auto& w : words)
        for (int bit = 23; bit >= 0; --bit) {
            const bool one = (w.bits() >> bit & 1) != (crc >> 15 & 1u);
            crc = static_cast<uint16_t>(crc << 1);
            if (one)
                crc ^= polynomial;
        }
    return static_cast<uint16_t>(~crc);
}

std::optional<uint16_t> read_crc(const word& w)
{
    if (w.kind != preamble::cmd || w.text[0] < 'x' || w.text[0] > '{')
        return std::nullopt;
    return static_cast<uint16_t>((w.text[0] - 'x') << 14 | w.text[1] << 7 | w.text[2]);
}

command read_command(const std::vector<word>& words, bool whole)
{
    command c;
    c.words = words;
    c.whole = whole;
    const char name = words.front().text[0];
    if (is_expanded(name)) {
        c.what = command::kind::text;
        c.text = characters(words);
    } else if (const auto report = read_lqa(words.front())) {
        c.what = command::kind::lqa;
        c.report = *report;
    } else if (name == 'd') {
        c.what = command::kind::data;
        c.sound = false;
        std::vector<word> covered = words;
        if (const auto crc = read_crc(words.back())) {
            covered.pop_back();
            c.sound = *crc == message_crc(covered);
        }
        c.text = characters({ covered.begin() + 1, covered.end() });
    }
    return c;
}

std::string command::to_string() const
{
    const std::string gap = whole ? "" : " ...";
    switch (what) {
    case kind::text:
        return "AMD \"" + escaped(text) + "\"" + gap;
    case kind::lqa:
        return text_of(report);
    case kind::data:
        return "DTM \"" + escaped(text) + "\"" + (sound ? "" : " (CRC wrong)") + gap;
    default:
        return join(words) + gap;
    }
}

} // namespace gr::hf::ale
