/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/link_machine.h"

#include "ale/words/address.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

namespace gr::hf::ale {

namespace {

// A radio may take this long to key and tune before a transmission, and to report its end.
constexpr station_time transmit_margin = std::chrono::seconds(25);

} // namespace

const char* to_string(link_state s)
{
    constexpr std::array<const char*, 8> names{ "scanning",  "reading", "listening",
                                                "sending",   "answer",  "slot",
                                                "handshake", "linked" };
    return names[static_cast<size_t>(s)];
}

link_machine::link_machine(const link_settings& settings,
                           const address_book& book,
                           uint64_t seed)
    : d_settings(settings), d_book(book), d_heard(d_book), d_random(seed),
      d_channels(settings.channels)
{
    settings.check();
    book.check();
}

void link_machine::call(const std::string& to,
                        const std::string& text,
                        station_time now,
                        std::optional<size_t> first,
                        snr_judge enough)
{
    d_book.check_callable(to);
    if (!text.empty())
        text_words(text);
    if (full())
        throw std::invalid_argument(std::to_string(max_requests) + " calls wait already");
    advance(now);
    d_requests.push_back({ to, text, first, std::move(enough) });
    if (d_state == link_state::scanning)
        start_work(now);
}

void link_machine::end(station_time now, link_reason why)
{
    advance(now);
    d_requests.clear();
    if (d_state == link_state::linked) {
        if (d_link->keyed_at)
            d_link->ending = true;
        else // A called station that hears nothing waits for a call without a TWAS, which
             // would make the caller wait for its call.
            close_link(why, d_link->caller || why != link_reason::silent, now);
    } else if (d_out && !d_out->what.to.empty()) {
        // A frame on the air is not cut: on_transmitted() ends the call.
        if (d_state == link_state::sending && !d_in) {
            d_out->cancelled = true;
        } else if (d_state == link_state::listening || d_state == link_state::answer) {
            fail_call(link_reason::ours, now);
        } else {
            d_actions.notify(
                link_action::kind::failed, d_channel, d_out->what.to, link_reason::ours);
            d_out.reset();
        }
    }
}

void link_machine::transmitted(station_time now)
{
    if (d_state != link_state::sending)
        return;
    const transmission what = *d_sending;
    d_sending.reset();
    for (auto& c : d_channels)
        c.quiet_since = std::max(c.quiet_since, now);
    on_transmitted(what, now);
}

void link_machine::on_transmitted(transmission what, station_time now)
{
    const bool of_call = what == transmission::call || what == transmission::decline;
    if (of_call && d_out->cancelled)
        return fail_call(link_reason::ours, now);
    switch (what) {
    case transmission::call:
        d_out->tries.sent();
        d_state = link_state::answer;
        d_out->answered.clear();
        d_out->limit = now + d_settings.answer_wait() + times::longest_message;
        d_deadline = now + d_settings.answer_wait();
        if (const auto net = d_book.nets.find(d_out->what.to); net != d_book.nets.end()) {
            size_t words = 0;
            for (const auto& member : net->second)
                words += address_words(preamble::to, member).size();
            // The last answer is over one wait later. Receivers take a part of a word.
            d_deadline = now + times::word +
                         slot_start(net->second.size() + 1,
                                    address_words(preamble::to, d_out->own).size(),
                                    words,
                                    d_settings.report);
        }
        break;
    case transmission::answer:
        d_state = link_state::handshake;
        d_deadline = std::max(now + d_settings.answer_wait(), d_in->give_up_at);
        d_in->limit = *d_deadline + times::longest_message;
        break;
    case transmission::acknowledgement:
        if (d_link) { // repeated
            d_state = link_state::linked;
            d_deadline = d_link->deadline(d_settings);
        } else {
            const bool cancelled = d_out->cancelled;
            link l;
            l.own = d_out->own;
            l.peer = d_out->what.to;
            l.caller = true;
            if (d_book.nets.count(l.peer))
                l.members = d_out->answered;
            d_out.reset();
            start_link(l, now);
            if (cancelled)
                close_link(link_reason::ours, true, now);
        }
        break;
    case transmission::decline:
        d_out->what.enough = {}; // the next answer counts, wherever it comes from
        return next_channel(now);
    case transmission::text:
        d_state = link_state::linked;
        d_link->active_at = now;
        d_deadline = d_link->deadline(d_settings);
        break;
    case transmission::sound:
        return next_channel(now);
    default:
        resume(now);
    }
}

void link_machine::advance(station_time now)
{
    if (!d_started) {
        d_started = true;
        d_sound_at = now + d_settings.sounding;
        for (auto& c : d_channels)
            c.quiet_since = now;
        d_actions.add({});
        d_deadline.reset();
        if (!d_settings.wide)
            d_deadline = now + d_settings.tune + d_settings.dwell;
    }
    // A late call may find several timers expired: each is acted on with the time as it is.
    for (size_t k = 0; k < 4 && next_deadline().value_or(now + times::word) <= now; ++k)
        on_deadline(now);
}

std::optional<station_time> link_machine::work_at() const
{
    std::optional<station_time> at;
    const auto earlier = [&at](station_time t) { at = at ? std::min(*at, t) : t; };
    if (d_out)
        earlier(d_out->retry_at);
    else if (!d_requests.empty())
        earlier(station_time(0));
    else if (d_settings.sounding > station_time(0))
        earlier(d_sound_at);
    return at;
}

std::optional<station_time> link_machine::next_deadline() const
{
    const auto work =
        d_state == link_state::scanning && d_started ? work_at() : std::nullopt;
    if (work && d_deadline)
        return std::min(*work, *d_deadline);
    return work ? work : d_deadline;
}

void link_machine::on_deadline(station_time now)
{
    switch (d_state) {
    case link_state::scanning:
        if (!start_work(now))
            hop(now);
        break;
    case link_state::reading:
        d_channels[d_channel].ignored = now >= d_reading_limit;
        resume(now);
        break;
    case link_state::listening:
        send_call(now);
        break;
    case link_state::sending:
        d_sending.reset();
        if (d_link)
            close_link(link_reason::transmitter, false, now);
        else if (d_out && !d_out->what.to.empty())
            fail_call(link_reason::transmitter, now);
        else
            resume(now);
        break;
    case link_state::answer:
        if (!d_out->answered.empty())
            return acknowledge(transmission::acknowledgement, now);
        d_heard.quality().unanswered(d_out->what.to, d_channel, now);
        next_channel(now);
        break;
    case link_state::slot:
        send_answer(now);
        break;
    case link_state::handshake:
        if (d_in->slots == 0 && d_in->repeats-- > 0)
            return send_answer(now);
        d_actions.notify(link_action::kind::failed,
                         d_channel,
                         d_in->peer,
                         link_reason::no_acknowledgement);
        resume(now);
        break;
    case link_state::linked:
        if (now >= d_link->deadline(d_settings))
            close_link(d_link->why(d_settings, now), true, now);
        else
            d_deadline = d_link->deadline(d_settings);
        break;
    }
}

// Back to the scan, or to a call that waits.
void link_machine::resume(station_time now)
{
    d_in.reset();
    d_state = link_state::scanning;
    if (d_out && d_out->what.to.empty()) // interrupted sounds are not resumed
        d_out.reset();
    if (d_out && d_out->retry_at < now) // was interrupted
        d_out->retry_at = now;
    if (!start_work(now))
        hop(now);
}

void link_machine::hop(station_time now)
{
    d_deadline.reset();
    if (d_settings.wide)
        return;
    tune((d_channel + 1) % d_settings.channels, now);
    d_deadline = now + d_settings.tune + d_settings.dwell;
}

// Starts what is due: a call, or sounds.
bool link_machine::start_work(station_time now)
{
    if (work_at().value_or(now + times::word) > now)
        return false;
    if (!d_out) {
        d_out.emplace();
        if (!d_requests.empty()) {
            d_out->what = d_requests.front();
            d_requests.pop_front();
        } else {
            d_sound_at = now + d_settings.sounding;
        }
        const auto match = d_book.find(d_out->what.to);
        d_out->own =
            match.how == address_book::match::kind::net ? match.own : d_book.self.front();
    }
    std::vector<size_t> order(d_settings.channels);
    std::iota(order.begin(), order.end(), size_t{ 0 });
    if (!d_out->what.to.empty())
        order = quality().order(d_out->what.to, d_settings.channels, now);
    if (const auto first = d_out->what.first) // in each round
        std::stable_partition(
            order.begin(), order.end(), [first](size_t c) { return c == *first; });
    d_out->tries = channel_tries(order);
    ++d_out->rounds;
    next_channel(now);
    return true;
}

void link_machine::tune(size_t channel, station_time now)
{
    if (channel == d_channel)
        return;
    d_channel = channel;
    if (!d_settings.wide)
        d_channels[channel].quiet_since = now;
    link_action a;
    a.channel = channel;
    d_actions.add(a);
}

void link_machine::transmit(transmission what, const frame_plan& plan, station_time now)
{
    link_action a;
    a.what = link_action::kind::transmit;
    a.channel = d_channel;
    a.words = words_of(plan);
    frame f;
    f.to = plan.to;
    f.from = plan.from;
    f.answer_wanted = plan.answer_wanted;
    a.text = f.to_string();
    // An answer to a net or a group is acknowledged to all of it.
    if ((what == transmission::call && !d_book.nets.count(plan.to.front())) ||
        (what == transmission::answer && d_in->slots == 0))
        a.answers = answers_to(plan);
    // What was half read before is not continued after it.
    for (auto& c : d_channels)
        c.reader = {};
    d_sending = what;
    d_state = link_state::sending;
    d_deadline = now + static_cast<int>(a.words.size()) * times::word + transmit_margin;
    d_actions.add(std::move(a));
}

} // namespace gr::hf::ale
