/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "explore/world.h"

#include <functional>

/*! \file
 *  Every schedule of a few faults, as a tree: a node is a schedule, its children are that
 *  schedule and one more fault at a later place of the run. So each set of faults is run
 *  once, and only faults that can happen.
 */
namespace gr::hf::explore {

//! Counts of schedules that were run.
struct tally {
    uint64_t schedules = 0;
    uint64_t failures = 0;      //!< schedules with a violation
    double longest_quiet_s = 0; //!< outcome::quiet_s, the largest

    void add(const outcome& o);
    void add(const tally& t);
};

//! Called for each schedule that was run.
using visitor = std::function<void(const schedule&, const outcome&)>;

//! Faults that can follow the last one of \p s, after a run of \p s.
std::vector<fault> next_faults(const schedule& s, const outcome& o);

//! Runs \p s and all schedules that add faults to it, up to \p depth faults in all.
tally run_below(const std::string& world,
                const schedule& s,
                size_t depth,
                const visitor& v);

/*! \brief Runs about \p count schedules of a world: none and one fault all, of those with
 *         two faults every k-th.
 */
tally run_sample(const std::string& world, uint64_t count, const visitor& v);

//! The smallest part of \p s with a violation, found by leaving out faults.
schedule minimised(const std::string& world, const schedule& s);

} // namespace gr::hf::explore
