/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/rate_range.h"

#include "s5066/eow.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

// What can be advised, by rate, short before long.
const std::vector<mode>& advisable()
{
    static const auto all = [] {
        std::vector<mode> list;
        for (const mode& m : mode::all()) {
            if (encode_rate_advice(m)) {
                list.push_back(m);
            }
        }
        std::stable_sort(list.begin(), list.end(), [](const mode& a, const mode& b) {
            return a.rate_bps != b.rate_bps ? a.rate_bps < b.rate_bps
                                            : a.il == interleaver::short_ && a.il != b.il;
        });
        return list;
    }();
    return all;
}

} // namespace

std::optional<rate_range> rate_range::parse(const std::string& text)
{
    if (text.compare(0, 4, "auto") != 0) {
        return std::nullopt;
    }
    const auto refuse = [&text]() -> std::invalid_argument {
        return std::invalid_argument(
            "mode " + text.substr(0, 60) +
            ": allowed is auto, auto:<rate>..<rate> or, for the short interleaver only, "
            "auto:<rate>S..<rate>S, with rates 75, 150, 300, 600, 1200, 2400, 3200, "
            "4800, "
            "6400, 8000 and 9600, the lower one first");
    };
    const std::string range = text == "auto" ? "auto:75..9600" : text;
    const size_t dots = range.find("..");
    if (range[4] != ':' || dots == std::string::npos) {
        throw refuse();
    }
    bool short_only = true;
    const auto end = [&](std::string s) {
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
        for (const mode& m : advisable()) {
            if (std::to_string(m.rate_bps) == s && m.il == interleaver::short_) {
                return m;
            }
        }
        throw refuse();
    };
    rate_range r;
    r.floor = end(range.substr(5, dots - 5));
    r.ceiling = end(range.substr(dots + 2));
    r.long_allowed = !short_only;
    if (r.floor.rate_bps > r.ceiling.rate_bps) {
        throw refuse();
    }
    return r;
}

std::vector<mode> rate_range::modes() const
{
    std::vector<mode> list;
    for (const mode& m : advisable()) {
        if (m.rate_bps >= floor.rate_bps && m.rate_bps <= ceiling.rate_bps &&
            (m.il == interleaver::short_ || long_allowed)) {
            list.push_back(m);
        }
    }
    return list;
}

} // namespace gr::hf::s5066
