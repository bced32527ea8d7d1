/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Settings of a link engine by name.
#include "ale/link/settings.h"

#include <functional>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

struct entry {
    setting_info info;
    std::function<void(link_settings&, double)> set;
};

template <class T>
entry count(const char* name, T link_settings::*member, int most, const char* meaning)
{
    return { { name,
               static_cast<double>(link_settings{}.*member),
               0,
               static_cast<double>(most),
               true,
               "",
               meaning },
             [member](link_settings& s, double v) { s.*member = static_cast<T>(v); } };
}

entry seconds(const char* name,
              station_time link_settings::*member,
              double least,
              double most,
              const char* meaning)
{
    return {
        { name, to_seconds(link_settings{}.*member), least, most, false, "s", meaning },
        [member](link_settings& s, double v) { s.*member = from_seconds(v); }
    };
}

const std::vector<entry>& entries()
{
    using s = link_settings;
    static const std::vector<entry> all{
        seconds(
            "tune_s", &s::tune, 0, 20, "Time to change channels, ours and the peer's."),
        seconds(
            "idle_s", &s::idle, 5, 3600, "A link without traffic ends after this time."),
        seconds("silence_s",
                &s::silence,
                10,
                3600,
                "A link ends when nothing was heard from the peer for this time."),
        count("unanswered",
              &s::unanswered,
              20,
              "A link ends after this number of waits in a row without an answer, if "
              "nothing "
              "was heard in the last one. At least 2; 0: only silence_s counts."),
        seconds("sounding_s",
                &s::sounding,
                0,
                86400,
                "Interval of sounds, at least 60 s; 0: no sounds."),
        count("trials",
              &s::trials,
              1,
              "1: a link in use tries channels of which nothing was heard for an hour, "
              "at most one in ten minutes."),
        count(
            "rounds", &s::rounds, 20, "Number of times that a call tries all channels."),
        count("repeats",
              &s::repeats,
              3,
              "Number of repeats of an answer without an acknowledgement."),
        count("report", &s::report, 1, "1: exchange link quality reports."),
        count("accept", &s::accept, 1, "0: refuse calls."),
    };
    return all;
}

} // namespace

std::vector<setting_info> describe_link_settings()
{
    std::vector<setting_info> all;
    for (const auto& e : entries())
        all.push_back(e.info);
    return all;
}

void apply(const std::map<std::string, double>& values, link_settings& settings)
{
    for (const auto& [name, value] : values) {
        const entry* found = nullptr;
        std::string names;
        for (const auto& e : entries()) {
            names += (names.empty() ? "" : ", ") + e.info.name;
            if (e.info.name == name)
                found = &e;
        }
        if (!found)
            throw std::invalid_argument("setting '" + name + "': allowed are " + names);
        if (!(value >= found->info.least && value <= found->info.most))
            throw std::invalid_argument(name + " " + std::to_string(value) +
                                        ": allowed are " +
                                        std::to_string(found->info.least) + " to " +
                                        std::to_string(found->info.most));
        found->set(settings, value);
    }
    settings.check();
}

} // namespace gr::hf::ale
