/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Calls to a station, and the link that follows.
#include "ale/link/link_machine.h"

#include "ale/words/address.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

namespace {

// Slots of an AnyCall, 20 Tw each, 23 with a report (A.5.5.4.4).
constexpr size_t any_slots = 16;
constexpr int any_slot_thirds = 20, any_slot_thirds_report = 23;
// By which a called station waits longer for traffic: a TWAS and its reading. Our choice.
constexpr station_time later = 8 * times::word;
// Longest transmission of a data link: 127.5 s of D_PDUs (STANAG 5066 C.3.2.3) and a
// preamble.
constexpr station_time longest_keyed = std::chrono::seconds(150);

} // namespace

void link_machine::on_call(size_t channel,
                           const frame& f,
                           const address_book::match& m,
                           station_time now)
{
    using kind = address_book::match::kind;
    tune(channel, now);
    d_in.emplace();
    d_in->own = m.own;
    d_in->peer = f.from;
    d_in->end = from_seconds(f.end_s);
    d_in->give_up_at = now;
    d_in->sinad_db = static_cast<int>(std::lround(std::clamp(f.snr_db, 0.0f, 30.0f)));
    d_in->repeats = d_settings.repeats;
    d_in->report = d_settings.report || f.report_wanted(); // A.5.4.1
    if (!d_settings.accept && m.how != kind::individual)
        return resume(now);
    if (!d_settings.accept) {
        auto p = plan_to(f.from, m.own);
        p.answer_wanted = false;
        return transmit(transmission::refusal, p, now);
    }
    if (m.how == kind::individual)
        return send_answer(now);
    d_in->repeats = 0;
    if (m.how == kind::any) {
        std::uniform_int_distribution<int> slot(1, static_cast<int>(any_slots));
        const station_time width =
            (d_in->report ? any_slot_thirds_report : any_slot_thirds) * times::third;
        d_in->slots = any_slots;
        d_in->slot_at = d_in->end + slot(d_random) * width;
        d_in->give_up_at = d_in->end + static_cast<int>(any_slots + 1) * width;
    } else {
        const auto& members = m.members;
        const size_t caller = address_words(preamble::to, f.from).size();
        size_t before = 0, all = 0;
        for (size_t k = 0; k < members.size(); ++k) {
            all += address_words(preamble::to, members[k]).size();
            if (k + 2 <= m.slot)
                before = all;
        }
        d_in->slots = members.size();
        d_in->slot_at = d_in->end + slot_start(m.slot, caller, before, d_in->report);
        d_in->give_up_at =
            d_in->end + slot_start(members.size() + 1, caller, all, d_in->report);
    }
    // Twan, our own tuning and the time a receiver takes to lock.
    d_in->give_up_at += d_settings.answer_wait() + times::first_word;
    d_state = link_state::slot;
    d_deadline = std::max(now, d_in->slot_at);
}

void link_machine::send_answer(station_time now)
{
    auto p = plan_to(d_in->peer, d_in->own);
    if (d_in->report) {
        p.report.emplace();
        p.report->wanted = true;
        p.report->sinad_db = d_in->sinad_db;
    }
    transmit(transmission::answer, p, now);
}

void link_machine::on_handshake(const frame& f, station_time now)
{
    using kind = address_book::match::kind;
    const auto match = d_book.find(f.to);
    const bool to_us = match.how == kind::individual || match.how == kind::net ||
                       match.how == kind::group;
    if (!to_us || match.own != d_in->own || f.from != d_in->peer)
        return;
    if (f.kind() == frame_kind::close)
        return resume(now); // it wanted to pass a message only
    if (f.kind() != frame_kind::call)
        return;
    link l;
    l.own = d_in->own;
    l.peer = d_in->peer;
    start_link(l, now);
}

void link_machine::start_link(link l, station_time now)
{
    d_in.reset();
    l.active_at = l.heard_at = now;
    // A call to the station that has called us is no longer needed.
    if (d_out && d_out->what.to == l.peer)
        d_out.reset();
    d_requests.erase(
        std::remove_if(d_requests.begin(),
                       d_requests.end(),
                       [&l](auto& r) { return r.to == l.peer && r.text.empty(); }),
        d_requests.end());
    auto& a = d_actions.notify(link_action::kind::linked, d_channel, l.peer);
    a.members = l.members;
    a.caller = l.caller;
    d_link = std::move(l);
    d_state = link_state::linked;
    d_deadline = d_link->deadline(d_settings);
}

void link_machine::hold(bool on, station_time now)
{
    advance(now);
    if (!d_link)
        return;
    if (d_link->held && !on)
        d_link->active_at = now;
    d_link->held = on;
    if (d_state == link_state::linked)
        d_deadline = d_link->deadline(d_settings);
}

bool link_machine::send_text(const std::string& text, station_time now)
{
    text_words(text);
    advance(now);
    if (d_state != link_state::linked || d_link->keyed_at)
        return false;
    auto p = plan_to(d_link->peer, d_link->own);
    p.text = text;
    transmit(transmission::text, p, now);
    return true;
}

void link_machine::keyed(bool on, station_time now)
{
    advance(now);
    if (!d_link)
        return;
    link& l = *d_link;
    if (on) {
        l.keyed_at = now;
    } else if (l.keyed_at) {
        l.heard_at += now - *l.keyed_at; // nothing could be heard in this time
        l.active_at = now;
        l.keyed_at.reset();
    }
    if (d_state != link_state::linked)
        return;
    if (l.ending && !l.keyed_at)
        close_link(link_reason::ours, true, now);
    else
        d_deadline = d_link->deadline(d_settings);
}

void link_machine::traffic(std::optional<double> snr_db, station_time now)
{
    advance(now);
    if (!d_link)
        return;
    d_link->heard_at = d_link->active_at = now;
    d_link->confirmed = true;
    if (snr_db && d_link->members.empty())
        d_heard.quality().heard(d_link->peer, d_channel, *snr_db, now);
    if (d_state == link_state::linked)
        d_deadline = d_link->deadline(d_settings);
}

station_time link_machine::link::deadline(const link_settings& s) const
{
    if (keyed_at)
        return *keyed_at + longest_keyed;
    const station_time silent = heard_at + s.silence;
    // The caller ends it. Two TWAS at the same time would not be heard.
    const station_time idle = active_at + s.idle + (caller ? station_time(0) : later);
    return held ? silent : std::min(silent, idle);
}

// Why it ends at its deadline.
link_reason link_machine::link::why(const link_settings& s, station_time now) const
{
    if (keyed_at)
        return link_reason::transmitter;
    return now >= heard_at + s.silence ? link_reason::silent : link_reason::idle;
}

void link_machine::close_link(link_reason why, bool tell, station_time now)
{
    const link l = *d_link;
    d_link.reset();
    // Its quality is that of better times.
    if (why == link_reason::silent)
        d_heard.quality().unanswered(l.peer, d_channel, now);
    d_actions.notify(link_action::kind::ended, d_channel, l.peer, why);
    if (!tell)
        return resume(now);
    auto p = plan_to(l.peer, l.own);
    p.answer_wanted = false;
    transmit(transmission::close, p, now);
}

} // namespace gr::hf::ale
