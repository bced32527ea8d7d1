/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explore/search.h"

#include <algorithm>

namespace gr::hf::explore {

namespace {

// D_PDUs of one transmission to which faults are added. Further ones of a long transmission
// differ from these by their number only.
constexpr unsigned max_d_pdus = 4;

schedule with(schedule s, const fault& f)
{
    s.push_back(f);
    return s;
}

outcome
run_counted(const std::string& world, const schedule& s, tally& t, const visitor& v)
{
    const outcome o = run(world, s);
    t.add(o);
    v(s, o);
    return o;
}

} // namespace

void tally::add(const outcome& o)
{
    ++schedules;
    failures += o.violations.empty() ? 0 : 1;
    longest_quiet_s = std::max(longest_quiet_s, o.quiet_s);
}

void tally::add(const tally& t)
{
    schedules += t.schedules;
    failures += t.failures;
    longest_quiet_s = std::max(longest_quiet_s, t.longest_quiet_s);
}

std::vector<fault> next_faults(const schedule& s, const outcome& o)
{
    std::vector<fault> all;
    for (unsigned n = 0; n < o.transmissions.size(); ++n) {
        for (const char k : std::string("LEPXCNRQU")) {
            all.push_back({ n, static_cast<fault_kind>(k), 0 });
        }
        const auto& d_pdus = o.transmissions[n].d_pdus;
        for (unsigned d = 0; d < std::min<size_t>(d_pdus.size(), max_d_pdus); ++d) {
            all.push_back({ n, fault_kind::header, d });
            if (s5066::has_segment(d_pdus[d])) {
                all.push_back({ n, fault_kind::segment, d });
            }
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::remove_if(all.begin(),
                             all.end(),
                             [&](const fault& f) {
                                 return (!s.empty() && !(s.back() < f)) || !may_add(s, f);
                             }),
              all.end());
    return all;
}

tally run_below(const std::string& world,
                const schedule& s,
                size_t depth,
                const visitor& v)
{
    tally t;
    const outcome o = run_counted(world, s, t, v);
    if (s.size() < depth) {
        for (const fault& f : next_faults(s, o)) {
            t.add(run_below(world, with(s, f), depth, v));
        }
    }
    return t;
}

tally run_sample(const std::string& world, uint64_t count, const visitor& v)
{
    tally t;
    const outcome none = run_counted(world, {}, t, v);
    std::vector<schedule> pairs;
    for (const fault& first : next_faults({}, none)) {
        const outcome one = run_counted(world, { first }, t, v);
        for (const fault& second : next_faults({ first }, one)) {
            pairs.push_back({ first, second });
        }
    }
    const uint64_t left = count > t.schedules ? count - t.schedules : 0;
    for (uint64_t k = 0; k < std::min<uint64_t>(left, pairs.size()); ++k) {
        run_counted(world,
                    pairs[k * pairs.size() / std::min<uint64_t>(left, pairs.size())],
                    t,
                    v);
    }
    return t;
}

schedule minimised(const std::string& world, const schedule& s)
{
    for (size_t leave = 0; leave < s.size(); ++leave) {
        schedule fewer = s;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(leave));
        if (!run(world, fewer).violations.empty()) {
            return minimised(world, fewer);
        }
    }
    return s;
}

} // namespace gr::hf::explore
