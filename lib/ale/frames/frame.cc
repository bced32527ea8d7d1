/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame.h"

#include "ale/words/address.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

constexpr int max_channels = 100;
constexpr size_t max_sounds = 1000;
constexpr size_t max_group_words = 12;  // of a leading call, sent twice
constexpr size_t max_first_words = 5;   // of a group, in a scanning call
constexpr size_t words_per_channel = 2; // 784 ms: longer than a dwell

void check(const std::string& name, size_t value, size_t least, size_t most)
{
    if (value < least || value > most)
        throw std::invalid_argument(name + " " + std::to_string(value) +
                                    ": allowed are " + std::to_string(least) + " to " +
                                    std::to_string(most));
}

void append(std::vector<word>& to, const std::vector<word>& more)
{
    to.insert(to.end(), more.begin(), more.end());
}

// The whole addresses one after the other. TO never follows TO: then it is REP.
std::vector<word> leading_call(const std::vector<std::string>& to)
{
    std::vector<word> words;
    for (const auto& a : to) {
        const bool after_to = !words.empty() && words.back().kind == preamble::to;
        append(words, address_words(after_to ? preamble::rep : preamble::to, a));
    }
    return words;
}

std::vector<word> scanning_call(const frame_plan& plan)
{
    std::vector<word> first;
    for (const auto& a : plan.to) {
        const word w = address_words(preamble::to, a).front();
        if (std::find(first.begin(), first.end(), w) == first.end())
            first.push_back(w);
    }
    if (first.size() > max_first_words)
        throw std::invalid_argument(std::to_string(first.size()) +
                                    " different first words of addresses: a "
                                    "scanning call allows up to " +
                                    std::to_string(max_first_words));
    const bool group = plan.to.size() > 1;
    std::vector<word> words;
    for (size_t k = 0; k < words_per_channel * static_cast<size_t>(plan.channels); ++k) {
        words.push_back(first[k % first.size()]);
        if (group)
            words.back().kind = k % 2 == 0 ? preamble::thru : preamble::rep;
    }
    return words;
}

} // namespace

const char* to_string(frame_kind k)
{
    constexpr std::array<const char*, 4> names{ "call", "close", "sound", "cut" };
    return names[static_cast<size_t>(k)];
}

frame_kind frame::kind() const
{
    if (from.empty())
        return frame_kind::cut;
    if (to.empty())
        return frame_kind::sound;
    return answer_wanted ? frame_kind::call : frame_kind::close;
}

bool frame::report_wanted() const
{
    return std::any_of(
        commands.begin(),
        commands.end(),
        [](const command& c) { return c.what == command::kind::lqa && c.report.wanted; });
}

std::string frame::to_string() const
{
    std::string s;
    const auto add = [&s](const std::string& part) {
        s += (s.empty() ? "" : " ") + part;
    };
    for (const auto& a : to)
        add("TO " + a);
    if (!quick_id.empty())
        add("FROM " + quick_id);
    for (const auto& c : commands)
        add(c.to_string());
    add(from.empty() ? "..." : (answer_wanted ? "TIS " : "TWAS ") + from);
    return s;
}

frame_plan plan_to(const std::string& to, const std::string& from)
{
    frame_plan p;
    p.to = { to };
    p.from = from;
    return p;
}

std::vector<word> words_of(const frame_plan& plan)
{
    const auto self =
        address_words(plan.answer_wanted ? preamble::tis : preamble::twas, plan.from);
    if (kind_of_address(plan.from) != address_kind::individual)
        throw std::invalid_argument("address '" + plan.from +
                                    "': the own address has A-Z and 0-9 only");
    std::vector<word> words;
    if (plan.to.empty()) {
        if (plan.report || !plan.text.empty() || !plan.quick_id.empty())
            throw std::invalid_argument("a sound carries neither messages nor reports");
        check("sounds", plan.sounds, 1, max_sounds);
        for (size_t k = 0; k < plan.sounds; ++k)
            append(words, self);
        return words;
    }
    check("channels", static_cast<size_t>(plan.channels), 0, max_channels);
    const auto leading = leading_call(plan.to);
    check("words of the called addresses", leading.size(), 1, max_group_words);
    append(words, scanning_call(plan));
    append(words, leading);
    append(words, leading);
    if (!plan.quick_id.empty()) {
        if (!plan.report && plan.text.empty())
            throw std::invalid_argument("a quick ID comes before a message or a report");
        append(words, address_words(preamble::from, plan.quick_id));
    }
    if (plan.report)
        words.push_back(encode(*plan.report));
    if (!plan.text.empty())
        append(words, text_words(plan.text));
    append(words, self);
    return words;
}

std::vector<expected_words::sequence> answers_to(const frame_plan& plan)
{
    std::vector<expected_words::sequence> answers;
    for (const bool wanted : { true, false })
        for (const bool report : { false, true }) {
            auto p = plan_to(plan.from, plan.to.front());
            p.answer_wanted = wanted;
            if (report)
                p.report.emplace();
            expected_words::sequence words;
            for (const auto& w : words_of(p)) {
                words.emplace_back(w);
                if (w.kind == preamble::cmd) // what it reports is not known
                    words.back().reset();
            }
            answers.push_back(std::move(words));
        }
    return answers;
}

} // namespace gr::hf::ale
