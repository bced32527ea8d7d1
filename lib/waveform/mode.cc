/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/family.h"

#include <hf/mode.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

namespace gr::hf {

namespace {

std::vector<mode> make_all()
{
    std::vector<mode> all;
    for (const kernel::family& f : kernel::families())
        all.insert(all.end(), f.modes().begin(), f.modes().end());
    const auto order = [](const mode& m) {
        return std::tuple(std::string(kernel::family_of(m).standard),
                          m.bandwidth_hz,
                          m.rate_bps,
                          m.il,
                          m.constraint_length);
    };
    std::stable_sort(all.begin(), all.end(), [&order](const mode& a, const mode& b) {
        return order(a) < order(b);
    });
    return all;
}

// A user's text for a message: shortened and printable.
std::string quoted(const std::string& text)
{
    std::string s = "\"";
    for (const char c : text.substr(0, 40))
        s += c >= ' ' && c <= '~' ? c : '?';
    return s + (text.size() > 40 ? "...\"" : "\"");
}

// The name up to the data rate.
std::string prefix(const mode& m)
{
    const kernel::family& f = kernel::family_of(m);
    const std::string standard = std::string(f.standard) + "-";
    return f.bandwidth_in_name ? standard + std::to_string(m.bandwidth_hz / 1000) + "k-"
                               : standard;
}

bool begins_with(const std::string& text, const std::string& lead)
{
    return text.compare(0, lead.size(), lead) == 0;
}

//! The name of a mode, its part up to the bandwidth, and its part up to the rate.
struct spelling {
    mode m;
    std::string prefix, head, name;
};

// Made once, as each message that names a mode is parsed.
const std::vector<spelling>& spellings()
{
    static const auto all = [] {
        std::vector<spelling> list;
        for (const mode& m : mode::all())
            list.push_back(
                { m, prefix(m), prefix(m) + std::to_string(m.rate_bps), m.to_string() });
        return list;
    }();
    return all;
}

/* Hints for the start of a refused name: the interleavers of its rate, where most
 * mistakes are, or the rates of its bandwidth. */
std::string what_goes_with(const std::string& text)
{
    std::set<int> rates;
    std::string interleavers;
    int rate_bps = 0;
    for (const spelling& s : spellings()) {
        if (s.m.constraint_length != 7 || !begins_with(text, s.prefix))
            continue;
        if (kernel::family_of(s.m).bandwidth_in_name)
            rates.insert(s.m.rate_bps);
        const char next = text.size() > s.head.size() ? text[s.head.size()] : ' ';
        if (!begins_with(text, s.head) || (next >= '0' && next <= '9'))
            continue;
        rate_bps = s.m.rate_bps;
        interleavers +=
            (interleavers.empty() ? "" : ", ") + std::string(to_string(s.m.il));
    }
    if (!interleavers.empty())
        return std::to_string(rate_bps) + " bit/s has the interleavers " + interleavers +
               "; ";
    std::string list;
    for (const int rate : rates)
        list += (list.empty() ? "" : ", ") + std::to_string(rate);
    return list.empty() ? "" : "this bandwidth has " + list + " bit/s; ";
}

[[noreturn]] void refuse(const std::string& text)
{
    std::string forms;
    for (const kernel::family& f : kernel::families())
        forms += (forms.empty() ? "" : "; ") + std::string(f.forms);
    throw std::invalid_argument("mode " + quoted(text) + ": " + what_goes_with(text) +
                                "allowed is " + forms);
}

const std::unordered_map<std::string, mode>& names()
{
    static const auto all = [] {
        std::unordered_map<std::string, mode> map;
        for (const spelling& s : spellings()) {
            map.emplace(s.name, s.m);
            for (const waveform_reading r : kernel::other_readings(s.m)) {
                mode m = s.m;
                m.reading = r;
                map.emplace(m.to_string(), m);
            }
        }
        return map;
    }();
    return all;
}

} // namespace

const char* to_string(interleaver il)
{
    switch (il) {
    case interleaver::none:
        return "N";
    case interleaver::zero:
        return "Z";
    case interleaver::ultra_short:
        return "US";
    case interleaver::very_short:
        return "VS";
    case interleaver::short_:
        return "S";
    case interleaver::medium:
        return "M";
    case interleaver::long_:
        return "L";
    case interleaver::very_long:
        return "VL";
    case interleaver::voice:
        return "V";
    }
    return "?";
}

const char* to_string(waveform_reading r)
{
    return r == waveform_reading::reversed ? "reversed" : "standard";
}

mode mode::parse(const std::string& text)
{
    const auto found = names().find(text);
    if (found == names().end())
        refuse(text);
    return found->second;
}

std::string mode::to_string() const
{
    std::string name = prefix(*this) + std::to_string(rate_bps) + hf::to_string(il);
    if (constraint_length != 7)
        name += "-k" + std::to_string(constraint_length);
    if (reading != waveform_reading::standard)
        name += std::string("-") + hf::to_string(reading);
    return name;
}

bool mode::receivable() const
{
    const auto reception = kernel::family_of(*this).reception;
    return reception != nullptr && reception(bandwidth_hz) != nullptr;
}

const std::vector<mode>& mode::all()
{
    static const std::vector<mode> modes = make_all();
    return modes;
}

bool mode::operator==(const mode& o) const
{
    return family == o.family && rate_bps == o.rate_bps &&
           bandwidth_hz == o.bandwidth_hz && il == o.il &&
           constraint_length == o.constraint_length && reading == o.reading;
}

} // namespace gr::hf
