/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <sstream>
#include <stdexcept>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_paths = 64;

constexpr size_t max_carriers = 16;
constexpr const char* all_keys =
    "paths=, learned=, snr=, bandwidth=, offset=, drift=, sweep=, clock=, "
    "impulses=, carriers=, morse=, rtty=, filter=, gain=, step=, agc=";

struct preset {
    const char* name;
    double delay_ms, spread_hz;
};
// Two paths of equal mean power: ITU-R F.520, then F.1487 Annex 3. Low, middle and high
// latitudes, each quiet, moderate and disturbed, and near vertical incidence at middle
// latitudes.
constexpr std::array<preset, 14> presets{ { { "good", 0.5, 0.1 },
                                            { "moderate", 1, 0.5 },
                                            { "poor", 2, 1 },
                                            { "flutter", 0.5, 10 },
                                            { "low-quiet", 0.5, 0.5 },
                                            { "low-moderate", 2, 1.5 },
                                            { "low-disturbed", 6, 10 },
                                            { "mid-quiet", 0.5, 0.1 },
                                            { "mid-moderate", 1, 0.5 },
                                            { "mid-disturbed", 2, 1 },
                                            { "nvis", 7, 1 },
                                            { "high-quiet", 1, 0.5 },
                                            { "high-moderate", 3, 10 },
                                            { "high-disturbed", 7, 30 } } };

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
    for (char c : text)
        if (std::string(separators).find(c) == std::string::npos)
            parts.back() += c;
        else
            parts.emplace_back();
    return parts;
}

// The items of a channel. Blanks within double quotes belong to the item, the quotes do
// not.
std::vector<std::string> items(const std::string& text)
{
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (char c : text)
        if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == ' ' || c == ';' || c == '\t'))
            parts.emplace_back();
        else
            parts.back() += c;
    if (quoted)
        fail(text, "a double quote is not closed");
    return parts;
}

// Store the numbers of "a:b:c" in \p to; at least \p least must be present.
void numbers(const std::string& item,
             const std::string& text,
             const char* form,
             size_t least,
             std::initializer_list<double*> to)
{
    const auto f = split(text, ":");
    if (f.size() < least || f.size() > to.size())
        fail(item, "\"" + text + "\" is not " + form);
    for (size_t i = 0; i < f.size(); ++i)
        *to.begin()[i] = number(item, f[i]);
}

std::vector<path_spec> parse_paths(const std::string& item, const std::string& list)
{
    std::vector<path_spec> paths;
    for (const std::string& p : split(list, ",")) {
        path_spec s;
        numbers(item,
                p,
                "delay_ms:gain_db:spread_hz[:shift_hz[:phase_deg]]",
                3,
                { &s.delay_ms, &s.gain_db, &s.spread_hz, &s.shift_hz, &s.phase_deg });
        paths.push_back(s);
        if (paths.size() > max_paths)
            fail(item, "more than 64 paths");
    }
    return paths;
}

std::vector<carrier_spec> parse_carriers(const std::string& item, const std::string& list)
{
    std::vector<carrier_spec> carriers;
    for (const std::string& c : split(list, ",")) {
        carrier_spec s;
        numbers(item,
                c,
                "frequency_hz:level_db[:hz_per_s]",
                2,
                { &s.frequency_hz, &s.level_db, &s.hz_per_s });
        carriers.push_back(s);
        if (carriers.size() > max_carriers)
            fail(item, "more than 16 carriers");
    }
    return carriers;
}

constexpr std::array<const char*, 3> filter_names{ "fir", "butterworth", "elliptic" };

filter_spec parse_filter(const std::string& item, const std::string& value)
{
    filter_spec f;
    const size_t colon = value.find(':');
    const auto* name =
        std::find(filter_names.begin(), filter_names.end(), value.substr(0, colon));
    if (name == filter_names.end() || colon == std::string::npos)
        fail(item,
             "\"" + value +
                 "\" is not KIND:low_hz:high_hz; KIND is fir, "
                 "butterworth or elliptic");
    f.kind = static_cast<filter_kind>(name - filter_names.begin());
    numbers(
        item, value.substr(colon + 1), "low_hz:high_hz", 2, { &f.low_hz, &f.high_hz });
    return f;
}

void check(const char* name, double v, double lo, double hi)
{
    if (v >= lo && v <= hi)
        return;
    std::ostringstream s;
    s << "channel: " << name << " = " << v << " is not in " << lo << " to " << hi;
    throw std::invalid_argument(s.str());
}

std::vector<path_spec> preset_paths(const std::string& item)
{
    for (const preset& p : presets)
        if (item == p.name)
            return { { 0, 0, p.spread_hz, 0, 0 }, { p.delay_ms, 0, p.spread_hz, 0, 0 } };
    std::string allowed;
    for (const std::string& name : channel_spec::names())
        allowed += name + ", ";
    fail(item, "unknown; allowed are " + allowed + "and the keys " + all_keys);
}

// Parse an item of one number; false for any other key.
bool parse_number(channel_spec& s,
                  const std::string& item,
                  const std::string& key,
                  const std::string& value)
{
    if (key == "snr")
        s.snr_db = number(item, value);
    else if (key == "bandwidth")
        s.bandwidth_khz = number(item, value);
    else if (key == "offset")
        s.offset_hz = number(item, value);
    else if (key == "drift")
        s.drift_hz_per_s = number(item, value);
    else if (key == "sweep")
        s.sweep_hz_per_s = number(item, value);
    else if (key == "clock")
        s.clock_ppm = number(item, value);
    else if (key == "gain")
        s.gain_db = number(item, value);
    else if (key == "agc")
        s.agc_s = number(item, value);
    else
        return false;
    return true;
}

// Parse an item of several numbers, or of a file; false for any other key.
bool parse_list(channel_spec& s,
                const std::string& item,
                const std::string& key,
                const std::string& value)
{
    if (key == "paths") {
        s.paths = parse_paths(item, value);
    } else if (key == "learned") {
        s.learned = learned_channel::read(value);
    } else if (key == "impulses") {
        impulse_spec& i = s.impulses.emplace();
        numbers(item,
                value,
                "rate:level_db[:length_ms]",
                2,
                { &i.rate, &i.level_db, &i.length_ms });
    } else if (key == "carriers") {
        s.carriers = parse_carriers(item, value);
    } else if (key == "morse") {
        morse_spec& m = s.morse.emplace();
        numbers(item,
                value,
                "frequency_hz:level_db[:words_per_min]",
                2,
                { &m.frequency_hz, &m.level_db, &m.words_per_min });
    } else if (key == "rtty") {
        rtty_spec& r = s.rtty.emplace();
        numbers(item,
                value,
                "frequency_hz:level_db[:baud:shift_hz]",
                2,
                { &r.frequency_hz, &r.level_db, &r.baud, &r.shift_hz });
    } else if (key == "filter") {
        s.filter = parse_filter(item, value);
    } else if (key == "step") {
        step_spec& l = s.step.emplace();
        numbers(item, value, "step_db:every_s", 2, { &l.step_db, &l.every_s });
    } else {
        return false;
    }
    return true;
}

// shortest text that reads back to the same number
std::string text_of(double v)
{
    std::array<char, 32> b{};
    const auto r = std::to_chars(b.data(), b.data() + b.size(), v);
    return { b.data(), r.ptr };
}

} // namespace

std::vector<std::string> channel_spec::names()
{
    std::vector<std::string> all{ "clear", "awgn" };
    for (const preset& p : presets)
        all.emplace_back(p.name);
    return all;
}

channel_spec channel_spec::parse(const std::string& text)
{
    channel_spec s;
    bool other_paths = false;
    for (const std::string& item : items(text)) {
        if (item.empty() || item == "clear" || item == "awgn")
            continue;
        const size_t eq = item.find('=');
        const std::string key = item.substr(0, eq);
        if (eq == std::string::npos)
            s.paths = preset_paths(item);
        else if (!parse_number(s, item, key, item.substr(eq + 1)) &&
                 !parse_list(s, item, key, item.substr(eq + 1)))
            fail(item, std::string("unknown key; allowed are ") + all_keys);
        other_paths = other_paths || eq == std::string::npos || key == "paths";
    }
    if (s.learned && other_paths)
        fail(text, "learned= has its own paths: no other paths are allowed");
    s.validate();
    return s;
}

std::string channel_spec::to_string() const
{
    std::string t = learned ? "learned=\"" + learned->file + "\"" : "paths=";
    for (size_t i = 0; i < (learned ? 0 : paths.size()); ++i) {
        const path_spec& p = paths[i];
        t += (i ? "," : "") + text_of(p.delay_ms) + ":" + text_of(p.gain_db) + ":" +
             text_of(p.spread_hz);
        if (p.shift_hz != 0 || p.phase_deg != 0)
            t += ":" + text_of(p.shift_hz) + ":" + text_of(p.phase_deg);
    }
    if (snr_db)
        t += " snr=" + text_of(*snr_db);
    if (bandwidth_khz)
        t += " bandwidth=" + text_of(*bandwidth_khz);
    const auto add = [&t](const char* key, double v) {
        if (v != 0)
            t += key + text_of(v);
    };
    add(" offset=", offset_hz);
    add(" drift=", drift_hz_per_s);
    add(" sweep=", sweep_hz_per_s);
    add(" clock=", clock_ppm);
    if (impulses)
        t += " impulses=" + text_of(impulses->rate) + ":" + text_of(impulses->level_db) +
             ":" + text_of(impulses->length_ms);
    for (size_t i = 0; i < carriers.size(); ++i) {
        t += (i ? "," : " carriers=") + text_of(carriers[i].frequency_hz) + ":" +
             text_of(carriers[i].level_db);
        add(":", carriers[i].hz_per_s);
    }
    if (morse)
        t += " morse=" + text_of(morse->frequency_hz) + ":" + text_of(morse->level_db) +
             ":" + text_of(morse->words_per_min);
    if (rtty)
        t += " rtty=" + text_of(rtty->frequency_hz) + ":" + text_of(rtty->level_db) +
             ":" + text_of(rtty->baud) + ":" + text_of(rtty->shift_hz);
    if (filter)
        t += std::string(" filter=") + filter_names[static_cast<size_t>(filter->kind)] +
             ":" + text_of(filter->low_hz) + ":" + text_of(filter->high_hz);
    add(" gain=", gain_db);
    if (step)
        t += " step=" + text_of(step->step_db) + ":" + text_of(step->every_s);
    add(" agc=", agc_s);
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
    if (bandwidth_khz)
        check("bandwidth", *bandwidth_khz, 0.1, 1000);
    check("offset", offset_hz, -4000, 4000);
    check("drift", drift_hz_per_s, -1000, 1000);
    check("sweep", sweep_hz_per_s, 0, 1000);
    check("clock", clock_ppm, -1000, 1000);
    if (impulses) {
        check("impulses per second", impulses->rate, 1e-6, 1000);
        check("impulse level_db", impulses->level_db, -100, 100);
        check("impulse length_ms", impulses->length_ms, 1e-3, 1000);
    }
    check("number of carriers", static_cast<double>(carriers.size()), 0, max_carriers);
    for (const carrier_spec& c : carriers) {
        check("carrier frequency_hz", c.frequency_hz, -5000, 5000);
        check("carrier level_db", c.level_db, -100, 100);
        check("carrier hz_per_s", c.hz_per_s, -1000, 1000);
    }
    if (morse) {
        check("morse frequency_hz", morse->frequency_hz, -5000, 5000);
        check("morse level_db", morse->level_db, -100, 100);
        check("morse words_per_min", morse->words_per_min, 1, 100);
    }
    if (rtty) {
        check("rtty frequency_hz", rtty->frequency_hz, -5000, 5000);
        check("rtty level_db", rtty->level_db, -100, 100);
        check("rtty baud", rtty->baud, 10, 1000);
        check("rtty shift_hz", rtty->shift_hz, 10, 2000);
    }
    if (filter) {
        check("filter low_hz", filter->low_hz, -5000, 5000);
        check("filter high_hz", filter->high_hz, filter->low_hz + 100, 5000);
    }
    check("gain", gain_db, -200, 200);
    if (step) {
        check("step_db", step->step_db, -100, 100);
        check("step every_s", step->every_s, 1e-3, 3600);
    }
    if (agc_s != 0)
        check("agc", agc_s, 1e-3, 60);
}

bool channel_spec::operator==(const channel_spec& o) const
{
    return to_string() == o.to_string();
}

} // namespace gr::hf::kernel
