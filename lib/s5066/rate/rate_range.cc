/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/rate_range.h"

#include "s5066/pdu/eow.h"
#include "waveform/family.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gr::hf::s5066 {

namespace {

constexpr int narrow_hz = 3000;

// 4539 before our robust family and 5069.
unsigned standard_of(const mode& m) { return kernel::family_of(m).link.advice_code; }

bool is_short(const mode& m) { return m.il == interleaver::short_; }

// Modes that can be advised in a bandwidth: short or long interleaver, with a code in EOW
// 1 or 8. Ordered as rate_range::modes().
const std::vector<mode>& advisable(int bandwidth_hz)
{
    static const auto all = [] {
        std::map<int, std::vector<mode>> lists;
        for (const mode& m : mode::all())
            if ((is_short(m) || m.il == interleaver::long_) && encode_rate_advice(m))
                lists[m.bandwidth_hz].push_back(m);
        const auto place = [](const mode& m) {
            return std::tuple(
                m.rate_bps, !is_short(m), standard_of(m), m.constraint_length);
        };
        for (auto& [hz, list] : lists)
            std::stable_sort(list.begin(), list.end(), [&](const mode& a, const mode& b) {
                return place(a) < place(b);
            });
        return lists;
    }();
    static const std::vector<mode> none;
    const auto it = all.find(bandwidth_hz);
    return it == all.end() ? none : it->second;
}

// The data rates of a list as text.
std::string rates_of(const std::vector<mode>& list)
{
    std::string text;
    int last_bps = 0;
    for (const mode& m : list) {
        if (m.rate_bps != last_bps) {
            text += (text.empty() ? "" : ", ") + std::to_string(m.rate_bps);
            last_bps = m.rate_bps;
        }
    }
    return text;
}

[[noreturn]] void refuse(const std::string& text, const std::vector<mode>& list)
{
    throw std::invalid_argument(
        "mode " + text.substr(0, 60) +
        ": allowed is auto, auto:<rate>..<rate> or, for the short interleaver only, "
        "auto:<rate>S..<rate>S, with rates " +
        rates_of(list.empty() ? advisable(narrow_hz) : list) +
        ", the lower one first; auto:4539 or auto:5069 for one standard, also "
        "auto:4539-<rate>..<rate>; in wider bands auto:<kHz>k or "
        "auto:<kHz>k-<rate>..<rate>, "
        "with kHz 6, 9, 12, 15, 18, 21, 24, 30, 36, 42 and 48");
}

// The part of a range before its rates.
struct range_head {
    int bandwidth_hz = narrow_hz;
    bool of_4539 = true, of_5069 = true, robust = true;
    std::string rates; // the rest; empty: all
};

// Reads "4539", "5069" or "48k", with or without "-" and rates. Empty for "48k-" or
// "48kx".
std::optional<range_head> head_of(const std::string& text)
{
    range_head h;
    h.rates = text;
    const size_t end = text.find('-');
    const std::string word = text.substr(0, end);
    const bool digits = word.size() > 1 &&
                        word.find_first_not_of("0123456789") == word.size() - 1 &&
                        word.back() == 'k';
    if (word != "4539" && word != "5069" && !digits)
        return h;
    if (end == text.size() - 1 || word.size() > 4)
        return std::nullopt;
    h.rates = end == std::string::npos ? "" : text.substr(end + 1);
    h.bandwidth_hz = digits ? 1000 * std::stoi(word) : narrow_hz;
    if (digits && h.bandwidth_hz == narrow_hz) // the same without it
        return std::nullopt;
    h.of_4539 = word == "4539";
    h.of_5069 = word != "4539";
    h.robust = false;
    return h;
}

// Parses one end of a range; short_only becomes false if it does not name the short
// interleaver.
std::optional<mode> end_of(std::string s, const std::vector<mode>& list, bool& short_only)
{
    if (s.compare(0, 5, "4539-") == 0)
        s.erase(0, 5);
    if (!s.empty() && s.back() == 'S') {
        s.pop_back();
    } else {
        short_only = false;
        if (!s.empty() && s.back() == 'L')
            s.pop_back();
    }
    const auto found = std::find_if(list.begin(), list.end(), [&s](const mode& m) {
        return std::to_string(m.rate_bps) == s && is_short(m);
    });
    return found == list.end() ? std::nullopt : std::optional(*found);
}

} // namespace

std::optional<rate_range> rate_range::parse(const std::string& text)
{
    if (text.compare(0, 4, "auto") != 0)
        return std::nullopt;
    if (text != "auto" && text[4] != ':')
        refuse(text, {});
    const auto head = text == "auto" ? range_head() : head_of(text.substr(5));
    if (!head || text == "auto:")
        refuse(text, {});
    rate_range r;
    r.of_4539 = head->of_4539;
    r.of_5069 = head->of_5069;
    r.robust = head->robust;
    std::vector<mode> list;
    for (const mode& m : advisable(head->bandwidth_hz))
        if (r.has_standard_of(m))
            list.push_back(m);
    if (list.empty())
        refuse(text, list);
    r.floor = list.front();
    r.ceiling = *std::find_if(list.begin(), list.end(), [&list](const mode& m) {
        return m.rate_bps == list.back().rate_bps;
    });
    if (head->rates.empty())
        return r;
    const size_t dots = head->rates.find("..");
    if (dots == std::string::npos)
        refuse(text, list);
    bool short_only = true;
    const auto low = end_of(head->rates.substr(0, dots), list, short_only);
    const auto high = end_of(head->rates.substr(dots + 2), list, short_only);
    if (!low || !high || low->rate_bps > high->rate_bps)
        refuse(text, list);
    r.floor = *low;
    r.ceiling = *high;
    r.long_allowed = !short_only;
    return r;
}

std::string rate_range::in_bandwidth(const std::string& text, int bandwidth_khz)
{
    const bool open = text == "auto";
    if (bandwidth_khz == narrow_hz / 1000 || (!open && text.compare(0, 5, "auto:") != 0))
        return text;
    const std::string range = open ? "" : text.substr(5);
    const auto head = head_of(range);
    const bool of_5069_alone = range.compare(0, 4, "5069") == 0;
    if (!head || (head->rates != range && !of_5069_alone))
        return text;
    return "auto:" + std::to_string(bandwidth_khz) + "k" +
           (head->rates.empty() ? "" : "-" + head->rates);
}

std::vector<mode> rate_range::modes() const
{
    std::vector<mode> list;
    for (const mode& m : advisable(floor.bandwidth_hz))
        if (m.rate_bps >= floor.rate_bps && m.rate_bps <= ceiling.rate_bps &&
            (is_short(m) || long_allowed) && has_standard_of(m))
            list.push_back(m);
    return list;
}

std::vector<mode> rate_range::common_modes() const { return modes_for({}); }

std::vector<mode> rate_range::modes_for(modes_read peer) const
{
    auto list = modes();
    unsigned common = ~0u;
    for (const mode& m : list)
        common = std::min(common, standard_of(m));
    const auto unread = [&](const mode& m) {
        const bool robust = m.family == waveform_family::robust;
        return standard_of(m) != common && !(robust ? peer.robust : peer.of_5069);
    };
    list.erase(std::remove_if(list.begin(), list.end(), unread), list.end());
    return list;
}

bool rate_range::has_standard_of(const mode& m) const
{
    if (m.family == waveform_family::robust)
        return robust;
    return standard_of(m) == 0 ? of_4539 : of_5069;
}

rate_range rate_range::of_one_standard() const
{
    const auto list = common_modes();
    rate_range r = *this;
    r.floor = list.front();
    r.ceiling = reference();
    r.of_4539 = standard_of(list.front()) == 0;
    r.robust = list.front().family == waveform_family::robust;
    r.of_5069 = !r.of_4539 && !r.robust;
    return r;
}

mode rate_range::reference() const
{
    const auto list = common_modes();
    return *std::find_if(list.begin(), list.end(), [&list](const mode& m) {
        return m.rate_bps == list.back().rate_bps;
    });
}

} // namespace gr::hf::s5066
