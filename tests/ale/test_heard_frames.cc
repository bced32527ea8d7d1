/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Messages that a station takes from the frames it hears.
#include "ale/link/heard_frames.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gr::hf::test {
namespace {

using namespace ale;
using namespace std::chrono_literals;

frame message_to(const std::string& to, const std::string& text)
{
    frame f;
    f.to = { to };
    f.from = "SAM";
    command c;
    c.what = command::kind::text;
    c.text = text;
    f.commands = { c };
    return f;
}

TEST(heard_frames, a_message_counts_again_after_a_minute)
{
    const address_book book{ { "JOE" }, {}, {} };
    heard_frames heard(book);
    const auto hello = message_to("JOE", "HELLO");
    const std::vector<std::string> once{ "HELLO" }, none;
    const station_time start = 1h, minute = heard_frames::same_message;
    EXPECT_EQ(heard.messages(hello, start), once);
    EXPECT_EQ(heard.messages(hello, start + minute - 1ns), none);
    // The time counts from the latest one.
    EXPECT_EQ(heard.messages(hello, start + 2 * minute - 2ns), none);
    EXPECT_EQ(heard.messages(hello, start + 3 * minute - 2ns), once);
    EXPECT_EQ(heard.messages(message_to("JOE", "BYE"), start + 3 * minute),
              std::vector<std::string>{ "BYE" });
    EXPECT_EQ(heard.messages(message_to("BOB", "HELLO"), start + 9 * minute), none);
}

} // namespace
} // namespace gr::hf::test
