/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/settings.h"

#include <stdexcept>
#include <string>

namespace gr::hf::ale {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void check_count(const char* name, long value, long least, long most)
{
    if (value < least || value > most)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": allowed are " + std::to_string(least) + " to " +
                                    std::to_string(most));
}

void check_time(const char* name,
                station_time value,
                station_time least,
                station_time most)
{
    const auto ms = [](station_time t) {
        return std::chrono::duration_cast<milliseconds>(t).count();
    };
    check_count((std::string(name) + " in ms").c_str(), ms(value), ms(least), ms(most));
}

} // namespace

void link_settings::check() const
{
    check_count("channels", static_cast<long>(channels), 1, 100);
    check_time("dwell", dwell, milliseconds(100), seconds(5));
    check_time("tune", tune, seconds(0), seconds(20));
    check_time("idle", idle, seconds(5), seconds(3600));
    check_time("silence", silence, seconds(10), seconds(3600));
    if (unanswered != 0)
        check_count("unanswered", static_cast<long>(unanswered), 2, 20);
    if (sounding != station_time(0))
        check_time("sounding", sounding, seconds(60), seconds(86400));
    check_count("rounds", rounds, 1, 20);
    check_count("repeats", repeats, 0, 3);
}

station_time link_settings::scan() const
{
    return wide ? station_time(0) : static_cast<int>(channels) * (dwell + tune);
}

station_time link_settings::longest_call() const
{
    return (wide ? times::longest_scan : 2 * scan()) + times::longest_message;
}

station_time link_settings::answer_wait() const
{
    return times::last_word + times::answer + tune + times::first_word;
}

station_time
slot_start(size_t slot, size_t caller_words, size_t earlier_words, size_t message_words)
{
    const size_t thirds = slot * (5 + 6 * caller_words + 3 * message_words) +
                          3 * (caller_words + earlier_words);
    return static_cast<int>(thirds) * times::third;
}

} // namespace gr::hf::ale
