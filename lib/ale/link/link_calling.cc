/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Calls that a station makes, and its sounds.
#include "ale/link/link_machine.h"

#include "ale/words/address.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

void link_machine::next_channel(station_time now)
{
    if (!d_out)
        return resume(now);
    while (const auto channel = d_out->tries.next()) {
        const auto& c = d_channels[*channel];
        if (d_settings.wide && c.busy) {
            d_out->tries.busy(*channel);
            continue;
        }
        tune(*channel, now);
        d_state = link_state::listening;
        // Time that the channel was heard before counts, too.
        d_deadline = std::max(now, c.quiet_since + d_settings.listen);
        return;
    }
    const link_reason why =
        d_out->tries.any_sent() ? link_reason::no_answer : link_reason::busy;
    if (d_out->what.to.empty()) {
        d_out.reset();
        return resume(now);
    }
    if (d_out->rounds >= d_settings.rounds)
        return fail_call(why, now);
    // Two stations that call each other at the same time must not do so again.
    std::uniform_int_distribution<station_time::rep> pause(d_settings.pause_min.count(),
                                                           d_settings.pause_max.count());
    d_out->retry_at = now + station_time(pause(d_random));
    d_state = link_state::scanning;
    hop(now);
}

void link_machine::send_call(station_time now)
{
    const auto& c = d_channels[d_channel];
    if (c.busy || c.quiet_since + d_settings.listen > now) {
        d_out->tries.busy(d_channel);
        return next_channel(now);
    }
    if (d_out->what.to.empty()) {
        frame_plan p;
        p.from = d_out->own;
        p.answer_wanted = false;
        // For scanning receivers: longer than their scan, and the address twice (A.5.5.5).
        const size_t words = address_words(preamble::tis, p.from).size();
        p.sounds = (2 * d_settings.channels + words - 1) / words + 2;
        return transmit(transmission::sound, p, now);
    }
    auto p = plan_to(d_out->what.to, d_out->own);
    const auto scanned = d_book.scanned.find(d_out->what.to);
    p.channels = scanned != d_book.scanned.end() ? scanned->second
                 : d_settings.channels == 1      ? 0
                                                 : static_cast<int>(d_settings.channels);
    p.text = d_out->what.text;
    d_out->report = d_settings.report;
    if (d_settings.report || d_out->what.enough) {
        p.report.emplace();
        p.report->wanted = true;
    }
    transmit(transmission::call, p, now);
}

void link_machine::on_answer(const frame& f, station_time now)
{
    const bool to_us = f.to.size() == 1 && f.to.front() == d_out->own;
    const auto net = d_book.nets.find(d_out->what.to);
    if (!to_us)
        return;
    if (net != d_book.nets.end()) {
        const auto& members = net->second;
        if (f.kind() == frame_kind::call &&
            std::find(members.begin(), members.end(), f.from) != members.end())
            d_out->answered.push_back(f.from);
        return;
    }
    if (f.from != d_out->what.to)
        return;
    d_out->report |= f.report_wanted();
    if (f.kind() == frame_kind::close)
        return fail_call(link_reason::refused, now);
    if (f.kind() != frame_kind::call)
        return;
    const auto& what = d_out->what;
    const auto score = d_heard.quality().score(f.from, d_channel, now);
    const bool enough =
        !what.enough || what.first != d_channel || what.enough(score.value_or(f.snr_db));
    acknowledge(enough ? transmission::acknowledgement : transmission::decline, now);
}

void link_machine::acknowledge(transmission what, station_time now)
{
    auto p = plan_to(d_out->what.to, d_out->own);
    p.answer_wanted = what == transmission::acknowledgement;
    const auto heard = d_heard.quality().heard_db(p.to.front(), d_channel, now);
    if (d_out->report && heard) {
        p.report.emplace();
        p.report->sinad_db = static_cast<int>(std::lround(std::clamp(*heard, 0.0, 30.0)));
    }
    transmit(what, p, now);
}

void link_machine::fail_call(link_reason why, station_time now)
{
    d_actions.notify(link_action::kind::failed, d_channel, d_out->what.to, why);
    d_out.reset();
    resume(now);
}

} // namespace gr::hf::ale
