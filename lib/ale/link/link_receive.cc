/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Words and frames that a station hears.
#include "ale/link/link_machine.h"

#include <algorithm>

namespace gr::hf::ale {

namespace {

bool is_in(const std::string& a, const std::vector<std::string>& all)
{
    return std::find(all.begin(), all.end(), a) != all.end();
}

} // namespace

void link_machine::receive(size_t channel, const rx_event& e, station_time now)
{
    advance(now);
    if (channel >= d_channels.size() || d_state == link_state::sending)
        return;
    auto& c = d_channels[channel];
    c.reader.push(e);
    if (e.what == rx_event::kind::end)
        c.ignored = false;
    if (e.what == rx_event::kind::word) {
        c.quiet_since = now;
        on_word(channel, e, now);
    }
    // Acting on a frame may start a transmission, which empties the reader.
    while (const auto f = c.reader.poll())
        on_frame(channel, *f, now);
}

void link_machine::detected(size_t channel, station_time now)
{
    if (d_state == link_state::scanning && !d_settings.wide && channel == d_channel)
        d_deadline = now + times::first_word;
}

void link_machine::busy(size_t channel, bool on, station_time now)
{
    advance(now);
    if (channel >= d_channels.size())
        return;
    auto& c = d_channels[channel];
    c.busy = on;
    c.quiet_since = now;
    if (on && d_state == link_state::listening && channel == d_channel) {
        d_out->tries.busy(channel);
        next_channel(now);
    }
}

void link_machine::on_word(size_t channel, const rx_event& e, station_time now)
{
    const bool here = channel == d_channel;
    switch (d_state) {
    case link_state::scanning:
    case link_state::listening:
        if (!d_channels[channel].ignored && d_book.may_concern(e.text)) {
            tune(channel, now);
            d_state = link_state::reading;
            d_reading_limit = now + d_settings.longest_call();
            d_deadline = now + times::reading_gap;
        } else if (here && d_state == link_state::listening) {
            d_out->tries.busy(channel);
            next_channel(now);
        } else if (here && !d_settings.wide &&
                   (e.text.kind == preamble::thru || e.text.kind == preamble::rep)) {
            // A group is called in turns. Our turn may come (A.5.5.4.3.4).
            d_deadline = now + times::first_word;
        }
        break;
    case link_state::reading:
        if (here)
            d_deadline = std::min(d_reading_limit, now + times::reading_gap);
        break;
    case link_state::answer:
        if (here && d_deadline && !d_book.nets.count(d_out->what.to))
            d_deadline =
                std::max(*d_deadline, std::min(d_out->limit, now + times::reading_gap));
        break;
    case link_state::handshake:
        // A caller that has not read our answer calls again, on another channel.
        if (!here && d_book.may_concern(e.text))
            d_in->elsewhere = channel;
        if (here || d_in->elsewhere == channel)
            d_deadline =
                std::max(*d_deadline, std::min(d_in->limit, now + times::reading_gap));
        break;
    default:
        break;
    }
}

void link_machine::on_frame(size_t channel, const frame& f, station_time now)
{
    using kind = address_book::match::kind;
    d_heard.note(channel, f, now);
    for (auto& text : d_heard.messages(f, now))
        d_actions.notify(link_action::kind::message, channel, f.from).text = text;
    const auto match = d_book.find(f.to);
    const bool here = channel == d_channel;
    switch (d_state) {
    case link_state::scanning:
    case link_state::reading:
    case link_state::listening:
        if (f.kind() == frame_kind::call && match.how != kind::none &&
            match.how != kind::all)
            on_call(channel, f, match, now);
        else if (d_state == link_state::reading && here)
            resume(now);
        break;
    case link_state::answer:
        if (here)
            on_answer(f, now);
        break;
    case link_state::handshake:
        if (here)
            on_handshake(f, now);
        else if (f.kind() == frame_kind::call && f.from == d_in->peer &&
                 match.how == kind::individual)
            on_call(channel, f, match, now); // our answer was lost, and it calls again
        break;
    case link_state::linked:
        if (here)
            on_linked_frame(f, now);
        else if (f.kind() == frame_kind::call && f.from == d_link->peer &&
                 d_link->members.empty() && !d_link->keyed_at &&
                 match.how == kind::individual) {
            // A wide radio hears the peer call elsewhere: it has left the link.
            d_link.reset();
            d_actions.notify(
                link_action::kind::ended, d_channel, f.from, link_reason::peer);
            on_call(channel, f, match, now);
        }
        break;
    default:
        break;
    }
}

// Only frames from the peer to us count. A third station with the same first word may end
// nothing, and a sound ends no link.
void link_machine::on_linked_frame(const frame& f, station_time now)
{
    link& l = *d_link;
    const auto match = d_book.find(f.to);
    const bool to_us = match.own == l.own && match.how != address_book::match::kind::none;
    const bool net_of_ours = !l.members.empty();
    const bool from_peer = net_of_ours ? is_in(f.from, l.members) : f.from == l.peer;
    if (!from_peer || !to_us)
        return;
    l.heard_at = l.active_at = now;
    d_deadline = d_link->deadline(d_settings);
    if (f.kind() == frame_kind::close) {
        l.members.erase(std::remove(l.members.begin(), l.members.end(), f.from),
                        l.members.end());
        if (l.members.empty())
            close_link(link_reason::peer, false, now);
        return;
    }
    if (f.kind() != frame_kind::call)
        return;
    const bool message = std::any_of(f.commands.begin(), f.commands.end(), [](auto& c) {
        return c.what != command::kind::lqa;
    });
    if (message) {
        l.confirmed = true;
        return;
    }
    if (l.caller && !l.confirmed && !net_of_ours) {
        // Its answer again: it has not read our acknowledgement.
        if (l.repeats++ < d_settings.repeats)
            transmit(transmission::acknowledgement, plan_to(l.peer, l.own), now);
        return;
    }
    if (match.how == address_book::match::kind::individual) {
        // A new call: the peer has lost the link.
        const std::string peer = l.peer;
        d_link.reset();
        d_actions.notify(link_action::kind::ended, d_channel, peer, link_reason::peer);
        on_call(d_channel, f, match, now);
    }
}

} // namespace gr::hf::ale
