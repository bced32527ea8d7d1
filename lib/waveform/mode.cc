/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <hf/mode.h>

#include <stdexcept>
#include <utility>

namespace gr::hf {

namespace {

constexpr const char* prefix = "4539-";
constexpr const char* wideband_prefix = "5069-";
constexpr const char* forms =
    "4539-<rate><interleaver>: 75, 150, 300, 600, 1200 or 2400 with Z, S or L; 2400V; "
    "4800N; 3200, 4800, 6400, 8000 or 9600 with US, VS, S, M, L or VL; 12800N; emulated "
    "modems: "
    "5069-18k-57600 and 5069-48k-240000 with US, S, M or L";

std::vector<mode> make_all()
{
    using il = interleaver;
    std::vector<mode> all;
    const auto add = [&all](waveform_family family, int rate, std::vector<il> ils) {
        for (const il i : ils)
            all.push_back({ family, rate, 3000, i, 7 });
    };
    const std::vector<il> six{ il::ultra_short, il::very_short, il::short_,
                               il::medium,      il::long_,      il::very_long };
    for (const int rate : { 75, 150, 300, 600, 1200 })
        add(waveform_family::serial_tone, rate, { il::zero, il::short_, il::long_ });
    add(waveform_family::serial_tone,
        2400,
        { il::zero, il::short_, il::long_, il::voice });
    add(waveform_family::high_rate, 3200, six);
    add(waveform_family::serial_tone, 4800, { il::none });
    for (const int rate : { 4800, 6400, 8000, 9600 })
        add(waveform_family::high_rate, rate, six);
    add(waveform_family::high_rate, 12800, { il::none });
    return all;
}

std::vector<mode> make_emulated()
{
    using il = interleaver;
    std::vector<mode> emulated;
    for (const auto& [bandwidth, rate] : { std::pair(18000, 57600), { 48000, 240000 } })
        for (const il i : { il::ultra_short, il::short_, il::medium, il::long_ })
            emulated.push_back({ waveform_family::wideband, rate, bandwidth, i, 7 });
    return emulated;
}

// A user's text in a message: bounded and printable.
std::string quoted(const std::string& text)
{
    std::string s = "\"";
    for (const char c : text.substr(0, 40))
        s += c >= ' ' && c <= '~' ? c : '?';
    return s + (text.size() > 40 ? "...\"" : "\"");
}

[[noreturn]] void refuse(const std::string& text)
{
    std::string why = "mode " + quoted(text) + ": ";
    // If a known rate leads, say what goes with it: most mistakes are in the interleaver.
    const size_t digits = std::string(prefix).size();
    if (text.compare(0, digits, prefix) == 0) {
        const size_t end = text.find_first_not_of("0123456789", digits);
        const std::string rate = text.substr(digits, end - digits);
        std::string allowed;
        for (const mode& m : mode::all())
            if (std::to_string(m.rate_bps) == rate)
                allowed += (allowed.empty() ? "" : ", ") + std::string(to_string(m.il));
        if (!allowed.empty())
            why += rate + " bit/s has the interleavers " + allowed + "; ";
    }
    throw std::invalid_argument(why + "allowed is " + forms);
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

mode mode::parse(const std::string& text)
{
    for (const auto* modes : { &all(), &emulated() })
        for (const mode& m : *modes)
            if (m.to_string() == text)
                return m;
    refuse(text);
}

std::string mode::to_string() const
{
    const std::string tail = std::to_string(rate_bps) + hf::to_string(il);
    if (family == waveform_family::wideband)
        return wideband_prefix + std::to_string(bandwidth_hz / 1000) + "k-" + tail;
    return prefix + tail;
}

const std::vector<mode>& mode::all()
{
    static const std::vector<mode> modes = make_all();
    return modes;
}

const std::vector<mode>& mode::emulated()
{
    static const std::vector<mode> modes = make_emulated();
    return modes;
}

bool mode::operator==(const mode& o) const
{
    return family == o.family && rate_bps == o.rate_bps &&
           bandwidth_hz == o.bandwidth_hz && il == o.il &&
           constraint_length == o.constraint_length;
}

} // namespace gr::hf
