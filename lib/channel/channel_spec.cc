/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel_spec.h"

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_paths = 64;

struct preset {
    const char* name;
    double delay_ms, spread_hz;
};
// ITU-R F.520: two paths of equal mean power
constexpr std::array<preset, 4> presets{ { { "good", 0.5, 0.1 },
                                           { "moderate", 1, 0.5 },
                                           { "poor", 2, 1 },
                                           { "flutter", 0.5, 10 } } };

[[noreturn]] void fail(const std::string& item, const std::string& why)
{
    throw std::invalid_argument("channel \"" + item + "\": " + why);
}

double number(const std::string& item, const std::string& text)
{
    double v = 0;
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, v);
    if (r.ec != std::errc{} || r.ptr != end || !std::isfinite(v))
        fail(item, "\"" + text + "\" is not a number");
    return v;
}

std::vector<std::string> split(const std::string& text, const char* separators)
{
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (std::string(separators).find(c) == std::string::npos)
            parts.back() += c;
        else
            parts.emplace_back();
    }
    return parts;
}

std::vector<path_spec> parse_paths(const std::string& item, const std::string& list)
{
    std::vector<path_spec> paths;
    for (const std::string& p : split(list, ",")) {
        const auto f = split(p, ":");
        if (f.size() < 3 || f.size() > 5)
            fail(item,
                 "\"" + p +
                     "\" is not delay_ms:gain_db:spread_hz[:shift_hz[:phase_deg]]");
        path_spec s;
        double* const to[] = {
            &s.delay_ms, &s.gain_db, &s.spread_hz, &s.shift_hz, &s.phase_deg
        };
        for (size_t i = 0; i < f.size(); ++i)
            *to[i] = number(item, f[i]);
        paths.push_back(s);
        if (paths.size() > max_paths)
            fail(item, "more than 64 paths");
    }
    return paths;
}

void check(const char* name, double v, double lo, double hi)
{
    if (v >= lo && v <= hi)
        return;
    std::ostringstream s;
    s << "channel: " << name << " = " << v << " is not in " << lo << " to " << hi;
    throw std::invalid_argument(s.str());
}

// shortest text that reads back to the same number
std::string text_of(double v)
{
    std::array<char, 32> b{};
    const auto r = std::to_chars(b.data(), b.data() + b.size(), v);
    return { b.data(), r.ptr };
}

} // namespace

channel_spec channel_spec::parse(const std::string& text)
{
    channel_spec s;
    for (const std::string& item : split(text, " ;\t")) {
        if (item.empty() || item == "clear" || item == "awgn")
            continue;
        const size_t eq = item.find('=');
        const std::string key = item.substr(0, eq);
        const std::string value = eq == std::string::npos ? "" : item.substr(eq + 1);
        if (eq == std::string::npos) {
            bool found = false;
            for (const preset& p : presets)
                if (key == p.name) {
                    s.paths = { { 0, 0, p.spread_hz, 0, 0 },
                                { p.delay_ms, 0, p.spread_hz, 0, 0 } };
                    found = true;
                }
            if (!found)
                fail(item,
                     "unknown; allowed are clear, awgn, good, moderate, poor, flutter, "
                     "paths=, snr=, offset=, drift=, sweep=, gain=");
        } else if (key == "paths")
            s.paths = parse_paths(item, value);
        else if (key == "snr")
            s.snr_db = number(item, value);
        else if (key == "offset")
            s.offset_hz = number(item, value);
        else if (key == "drift")
            s.drift_hz_per_s = number(item, value);
        else if (key == "sweep")
            s.sweep_hz_per_s = number(item, value);
        else if (key == "gain")
            s.gain_db = number(item, value);
        else
            fail(item, "unknown key; allowed are paths, snr, offset, drift, sweep, gain");
    }
    s.validate();
    return s;
}

std::string channel_spec::to_string() const
{
    std::string t = "paths=";
    for (size_t i = 0; i < paths.size(); ++i) {
        const path_spec& p = paths[i];
        t += (i ? "," : "") + text_of(p.delay_ms) + ":" + text_of(p.gain_db) + ":" +
             text_of(p.spread_hz);
        if (p.shift_hz != 0 || p.phase_deg != 0)
            t += ":" + text_of(p.shift_hz) + ":" + text_of(p.phase_deg);
    }
    if (snr_db)
        t += " snr=" + text_of(*snr_db);
    const std::pair<const char*, double> rest[] = { { " offset=", offset_hz },
                                                    { " drift=", drift_hz_per_s },
                                                    { " sweep=", sweep_hz_per_s },
                                                    { " gain=", gain_db } };
    for (const auto& [name, v] : rest)
        if (v != 0)
            t += name + text_of(v);
    return t;
}

void channel_spec::validate() const
{
    check("number of paths", static_cast<double>(paths.size()), 1, max_paths);
    for (const path_spec& p : paths) {
        check("delay_ms", p.delay_ms, 0, 1000);
        check("gain_db", p.gain_db, -100, 100);
        check("spread_hz", p.spread_hz, 0, 200);
        check("shift_hz", p.shift_hz, -1000, 1000);
        check("phase_deg", p.phase_deg, -3600, 3600);
    }
    if (snr_db)
        check("snr", *snr_db, -50, 200);
    check("offset", offset_hz, -4000, 4000);
    check("drift", drift_hz_per_s, -1000, 1000);
    check("sweep", sweep_hz_per_s, 0, 1000);
    check("gain", gain_db, -200, 200);
}

bool channel_spec::operator==(const channel_spec& o) const
{
    return to_string() == o.to_string();
}

} // namespace gr::hf::kernel
