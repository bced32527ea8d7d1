/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/heard_frames.h"

#include <algorithm>

namespace gr::hf::ale {

bool heard_frames::is_own(const std::string& a) const
{
    return std::find(d_book.self.begin(), d_book.self.end(), a) != d_book.self.end();
}

void heard_frames::note(size_t channel, const frame& f, station_time now)
{
    if (f.kind() == frame_kind::cut || is_own(f.from))
        return;
    d_quality.heard(f.from, channel, static_cast<double>(f.snr_db), now);
    if (std::none_of(f.to.begin(), f.to.end(), [this](auto& a) { return is_own(a); }))
        return;
    for (const auto& c : f.commands)
        if (c.what == command::kind::lqa && c.report.sinad_db)
            d_quality.reported(f.from, channel, *c.report.sinad_db, now);
}

std::vector<std::string> heard_frames::messages(const frame& f, station_time now)
{
    std::vector<std::string> found;
    const bool for_us = std::any_of(f.to.begin(), f.to.end(), [this](auto& a) {
        return d_book.find(a).how != address_book::match::kind::none;
    });
    if (!for_us || f.kind() == frame_kind::cut)
        return found;
    for (const auto& c : f.commands) {
        const bool text =
            c.what == command::kind::text || (c.what == command::kind::data && c.sound);
        if (!text || !c.whole)
            continue;
        const std::string id = f.from + ' ' + c.text;
        const bool repeated = d_last.first == id && now - d_last.second < same_message;
        d_last = { id, now };
        if (!repeated)
            found.push_back(c.text);
    }
    return found;
}

} // namespace gr::hf::ale
