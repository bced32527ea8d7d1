/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Runs every schedule of up to three faults, or replays one. Used by hf test --explore.
#include "explore/search.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

using namespace gr::hf::explore;

namespace {

constexpr const char* usage =
    "explore STORE COUNT [PART PARTS]  runs about COUNT more schedules; STORE keeps the "
    "results\n"
    "explore WORLD SCHEDULE            replays one, with the log of all stations\n";
constexpr size_t depth = 3;

int replay(const std::string& world, const std::string& text)
{
    const auto s = parse_schedule(text == "-" ? "" : text);
    if (!s) {
        std::fprintf(stderr,
                     "schedule '%s': allowed are - and, for example, 3L,5H1\n",
                     text.c_str());
        return 2;
    }
    const outcome o = run(world, *s, true);
    for (size_t n = 0; n < o.transmissions.size(); ++n) {
        std::printf(
            "transmission %zu of station %zu:", n, o.transmissions[n].station + 1);
        for (const auto d : o.transmissions[n].d_pdus) {
            std::printf(" %s", to_string(d));
        }
        std::printf("\n");
    }
    for (const auto& v : o.violations) {
        std::printf("VIOLATION %s\n", v.c_str());
    }
    std::printf("idle %.0f s after the last fault and data\n", o.quiet_s);
    return o.violations.empty() ? 0 : 1;
}

// A unit of work: all schedules whose first fault is this one. A line of the store:
// WORLD FAULT SCHEDULES FAILURES LONGEST_S
std::set<std::string> units_done(const std::string& store, tally& t)
{
    std::set<std::string> done;
    std::ifstream in(store);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string world, first;
        tally u;
        if (words >> world >> first >> u.schedules >> u.failures >> u.longest_quiet_s &&
            done.insert(world + " " + first).second) {
            t.add(u);
        }
    }
    return done;
}

void report(const std::string& world, const schedule& s)
{
    const schedule least = minimised(world, s);
    std::printf("FAILURE %s %s\n", world.c_str(), to_string(least).c_str());
    for (const auto& v : run(world, least).violations) {
        std::printf("    %s\n", v.c_str());
    }
}

tally run_unit(const std::string& world,
               const fault& first,
               std::set<std::string>& reported)
{
    return run_below(world, { first }, depth, [&](const schedule& s, const outcome& o) {
        constexpr size_t most = 50; // reports of one run of this program
        // A larger schedule that contains a failing one shows nothing new.
        if (!o.violations.empty() && reported.size() < most &&
            reported.insert(o.violations.front()).second) {
            report(world, s);
        }
    });
}

int search(const std::string& store, uint64_t count, size_t part, size_t parts)
{
    tally all, now;
    const auto done = units_done(store, all);
    std::set<std::string> reported;
    size_t number = 0;
    for (const auto& world : worlds()) {
        for (const fault& first : next_faults({}, run(world, {}))) {
            const std::string unit = world + " " + to_string(schedule{ first });
            if (number++ % parts != part || done.count(unit) || now.schedules >= count) {
                continue;
            }
            const tally t = run_unit(world, first, reported);
            now.add(t);
            std::ofstream out(store, std::ios::app);
            out << unit << ' ' << t.schedules << ' ' << t.failures << ' '
                << t.longest_quiet_s << '\n';
            out.flush();
            if (!out) {
                throw std::runtime_error(store + ": cannot be written");
            }
            std::printf("%-28s %8llu schedules, %llu failures\n",
                        unit.c_str(),
                        static_cast<unsigned long long>(t.schedules),
                        static_cast<unsigned long long>(t.failures));
            std::fflush(stdout);
        }
    }
    all.add(now);
    std::printf("explored: %llu schedules, %llu failures, idle after at most %.0f s\n",
                static_cast<unsigned long long>(all.schedules),
                static_cast<unsigned long long>(all.failures),
                all.longest_quiet_s);
    return all.failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() == 2 &&
            words[1].find_first_not_of("0123456789") != std::string::npos) {
            return replay(words[0], words[1]);
        }
        if (words.size() == 2 || words.size() == 4) {
            const size_t part = words.size() == 4 ? std::stoul(words[2]) : 0;
            const size_t parts = words.size() == 4 ? std::stoul(words[3]) : 1;
            return search(
                words[0], std::stoull(words[1]), part, std::max<size_t>(parts, 1));
        }
        std::fprintf(stderr, "%s", usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "explore: %s\n", error.what());
        return 2;
    }
}
