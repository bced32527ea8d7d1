/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Settings of a link engine by their names in station files.
#include "ale/link/settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

using namespace gr::hf;
using namespace gr::hf::ale;

namespace {

std::string refusal(const std::map<std::string, double>& values)
{
    link_settings s;
    try {
        ale::apply(values, s);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST(ale_settings, each_name_sets_its_own_value)
{
    using s = const link_settings&;
    const std::map<std::string, std::function<double(s)>> readers{
        { "tune_s", [](s x) { return to_seconds(x.tune); } },
        { "idle_s", [](s x) { return to_seconds(x.idle); } },
        { "silence_s", [](s x) { return to_seconds(x.silence); } },
        { "unanswered", [](s x) { return static_cast<double>(x.unanswered); } },
        { "sounding_s", [](s x) { return to_seconds(x.sounding); } },
        { "trials", [](s x) { return x.trials ? 1.0 : 0.0; } },
        { "rounds", [](s x) { return static_cast<double>(x.rounds); } },
        { "repeats", [](s x) { return static_cast<double>(x.repeats); } },
        { "report", [](s x) { return x.report ? 1.0 : 0.0; } },
        { "accept", [](s x) { return x.accept ? 1.0 : 0.0; } },
    };
    const auto all = describe_link_settings();
    EXPECT_EQ(all.size(), readers.size());
    for (const auto& info : all) {
        ASSERT_EQ(readers.count(info.name), 1u) << info.name;
        link_settings x;
        EXPECT_EQ(readers.at(info.name)(x), info.value) << info.name << ": the default";
        const double other = info.value != info.most ? info.most : info.least;
        const std::map<std::string, double> values{ { info.name, other } };
        ale::apply(values, x);
        for (const auto& [name, read] : readers) {
            link_settings before;
            EXPECT_EQ(read(x), values.count(name) ? values.at(name) : read(before))
                << info.name << " sets " << name;
        }
    }
}

// The limits that station files rely on.
TEST(ale_settings, limits_are_those_of_the_manual)
{
    const std::map<std::string, std::pair<double, double>> limits{
        { "tune_s", { 0, 20 } },        { "idle_s", { 5, 3600 } },
        { "silence_s", { 10, 3600 } },  { "unanswered", { 0, 20 } },
        { "sounding_s", { 0, 86400 } }, { "trials", { 0, 1 } },
        { "rounds", { 0, 20 } },        { "repeats", { 0, 3 } },
        { "report", { 0, 1 } },         { "accept", { 0, 1 } },
    };
    for (const auto& info : describe_link_settings()) {
        ASSERT_EQ(limits.count(info.name), 1u) << info.name;
        EXPECT_EQ(std::make_pair(info.least, info.most), limits.at(info.name))
            << info.name;
    }
}

TEST(ale_settings, what_is_not_allowed_is_named)
{
    for (const auto& info : describe_link_settings()) {
        for (const double bad : { info.least - 0.5, info.most + 0.5, std::nan("") })
            EXPECT_EQ(refusal({ { info.name, bad } }).find(info.name), 0u) << bad;
        EXPECT_FALSE(info.meaning.empty());
    }
    EXPECT_NE(refusal({ { "tun_s", 1 } }).find("allowed are tune_s, idle_s"),
              std::string::npos);
    // Values that are within their range, but no use.
    EXPECT_NE(refusal({ { "unanswered", 1 } }), "");
    EXPECT_EQ(refusal({ { "unanswered", 2 } }), "");
    EXPECT_NE(refusal({ { "sounding_s", 59.999 } }), "");
    EXPECT_EQ(refusal({ { "sounding_s", 60 } }), "");
    EXPECT_NE(refusal({ { "rounds", 0 } }), "");
}
