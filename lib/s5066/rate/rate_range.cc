/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/rate_range.h"

#include "s5066/pdu/eow.h"
#include "waveform/family.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

// True for modes that rate adaptation uses: those of 4539 with a code in EOW 1, and those
// of 5069 with the same interleavers and the usual code.
bool usable(const mode& m, int bandwidth_hz)
{
    const bool wideband = kernel::family_of(m).link.many_bandwidths;
    return wideband == (bandwidth_hz != 0) &&
           (!wideband || m.bandwidth_hz == bandwidth_hz) &&
           (m.il == interleaver::short_ || m.il == interleaver::long_) &&
           encode_rate_advice(m);
}

// Modes that can be advised, by rate, short before long. 0 Hz: those of 4539.
const std::vector<mode>& advisable(int bandwidth_hz)
{
    static const auto all = [] {
        std::map<int, std::vector<mode>> lists;
        lists[0];
        for (const mode& m : mode::all()) {
            const int hz = kernel::family_of(m).link.many_bandwidths ? m.bandwidth_hz : 0;
            if (usable(m, hz)) {
                lists[hz].push_back(m);
            }
        }
        for (auto& [hz, list] : lists) {
            std::stable_sort(list.begin(), list.end(), [](const mode& a, const mode& b) {
                return a.rate_bps != b.rate_bps
                           ? a.rate_bps < b.rate_bps
                           : a.il == interleaver::short_ && a.il != b.il;
            });
        }
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
    for (const mode& m : list) {
        if (m.il == interleaver::short_) {
            text += (text.empty() ? "" : ", ") + std::to_string(m.rate_bps);
        }
    }
    return text;
}

[[noreturn]] void refuse(const std::string& text, int bandwidth_hz)
{
    const auto& list = advisable(bandwidth_hz);
    throw std::invalid_argument(
        "mode " + text.substr(0, 60) +
        ": allowed is auto, auto:<rate>..<rate> or, for the short interleaver only, "
        "auto:<rate>S..<rate>S, with rates " +
        rates_of(list.empty() ? advisable(0) : list) +
        ", the lower one first; in wider bands auto:<kHz>k or "
        "auto:<kHz>k-<rate>..<rate>, "
        "with kHz 3, 6, 9, 12, 15, 18, 21, 24, 30, 36, 42 and 48");
}

// Removes "48k" or "48k-" from the start of a range and returns its bandwidth; 0 without
// one.
int take_bandwidth(std::string& range)
{
    const size_t k = range.find_first_not_of("0123456789");
    if (k == 0 || k > 2 || k == std::string::npos || range[k] != 'k') {
        return 0;
    }
    const int khz = std::stoi(range.substr(0, k));
    const bool more = k + 1 < range.size();
    if (more && range[k + 1] != '-') {
        return -1;
    }
    range.erase(0, more ? k + 2 : k + 1);
    return more && range.empty() ? -1 : 1000 * khz;
}

// Parses one end of a range; short_only becomes false if it does not name the short
// interleaver.
std::optional<mode> end_of(std::string s, const std::vector<mode>& list, bool& short_only)
{
    if (s.compare(0, 5, "4539-") == 0) {
        s.erase(0, 5);
    }
    if (!s.empty() && s.back() == 'S') {
        s.pop_back();
    } else {
        short_only = false;
        if (!s.empty() && s.back() == 'L') {
            s.pop_back();
        }
    }
    const auto found = std::find_if(list.begin(), list.end(), [&s](const mode& m) {
        return std::to_string(m.rate_bps) == s && m.il == interleaver::short_;
    });
    return found == list.end() ? std::nullopt : std::optional(*found);
}

} // namespace

std::optional<rate_range> rate_range::parse(const std::string& text)
{
    if (text.compare(0, 4, "auto") != 0) {
        return std::nullopt;
    }
    if (text != "auto" && text[4] != ':') {
        refuse(text, 0);
    }
    std::string range = text == "auto" ? "" : text.substr(5);
    const int hz = take_bandwidth(range);
    const auto& list = advisable(hz);
    if (list.empty() || (range.empty() && hz == 0 && text != "auto")) {
        refuse(text, hz);
    }
    rate_range r;
    if (range.empty()) {
        r.floor = list.front();
        r.ceiling = *std::find_if(list.rbegin(), list.rend(), [](const mode& m) {
            return m.il == interleaver::short_;
        });
        return r;
    }
    const size_t dots = range.find("..");
    if (dots == std::string::npos) {
        refuse(text, hz);
    }
    bool short_only = true;
    const auto low = end_of(range.substr(0, dots), list, short_only);
    const auto high = end_of(range.substr(dots + 2), list, short_only);
    if (!low || !high || low->rate_bps > high->rate_bps) {
        refuse(text, hz);
    }
    r.floor = *low;
    r.ceiling = *high;
    r.long_allowed = !short_only;
    return r;
}

std::string rate_range::in_bandwidth(const std::string& text, int bandwidth_khz)
{
    const bool open = text == "auto";
    if (bandwidth_khz == 3 || (!open && text.compare(0, 5, "auto:") != 0)) {
        return text;
    }
    std::string range = open ? "" : text.substr(5);
    if (take_bandwidth(range) != 0) {
        return text;
    }
    return "auto:" + std::to_string(bandwidth_khz) + "k" + (open ? "" : "-" + range);
}

std::vector<mode> rate_range::modes() const
{
    const bool wideband = kernel::family_of(floor).link.many_bandwidths;
    std::vector<mode> list;
    for (const mode& m : advisable(wideband ? floor.bandwidth_hz : 0)) {
        if (m.rate_bps >= floor.rate_bps && m.rate_bps <= ceiling.rate_bps &&
            (m.il == interleaver::short_ || long_allowed)) {
            list.push_back(m);
        }
    }
    return list;
}

} // namespace gr::hf::s5066
