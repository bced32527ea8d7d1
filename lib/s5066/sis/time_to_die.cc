/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/sis/time_to_die.h"

namespace gr::hf::s5066 {

namespace {

constexpr int64_t day_s = 86400;

bool leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// Day of the year, 1 to 366, from days since 1970-01-01.
int64_t day_of_year(int64_t day)
{
    // Days before a year: 365 per year, plus one per leap year.
    int64_t year = 1970 + day / 366;
    const auto begin = [](int64_t y) {
        const int64_t before = y - 1;
        const int64_t leaps = before / 4 - before / 100 + before / 400;
        return 365 * (y - 1970) + leaps - 477; // 477 leap years before 1970
    };
    while (begin(year) + (leap(year) ? 366 : 365) <= day)
        ++year;
    return day - begin(year) + 1;
}

} // namespace

time_to_die time_to_die_at(int64_t utc)
{
    time_to_die t;
    t.day_mod_16 = static_cast<uint8_t>(day_of_year(utc / day_s) % 16);
    t.half_gmt_s = static_cast<uint16_t>(utc % day_s / 2);
    return t;
}

bool is_over(const time_to_die& t, int64_t utc)
{
    for (int64_t days = -8; days <= 8; ++days) {
        if (time_to_die_at(utc + days * day_s).day_mod_16 == t.day_mod_16) {
            const int64_t at = (utc / day_s + days) * day_s + 2 * int64_t(t.half_gmt_s);
            return at + 2 <= utc;
        }
    }
    return false;
}

} // namespace gr::hf::s5066
