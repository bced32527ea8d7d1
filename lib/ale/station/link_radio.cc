/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/station/link_radio.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::ale {

namespace {

constexpr double subcarrier_hz = 1800;
constexpr double symbol_rate_bd = 2400; // of modems in 3 kHz
constexpr size_t max_reported = 1024;
// Words are reported at most this much after their start: three words that are lost, one
// that is read, and one that settles.
constexpr int64_t tuned_memory = 4 * link_radio::rate;

// A word of which the first copy was missed may be read: its end tells the channel.
constexpr double heard_part_s = 0.75 * word_s;

} // namespace

link_radio::link_radio(const link_settings& settings,
                       const address_book& book,
                       size_t streams,
                       uint64_t seed,
                       link_keeper::promise goodput)
    : d_wide(settings.wide), d_streams(streams),
      d_tune(std::llround(to_seconds(settings.tune) * rate)),
      d_link(settings, book, seed), d_keeper(d_link, settings, std::move(goodput))
{
    if (streams != settings.channels && (streams != 1 || settings.wide))
        throw std::invalid_argument("streams " + std::to_string(streams) +
                                    ": allowed are " + (settings.wide ? "" : "1 and ") +
                                    std::to_string(settings.channels) +
                                    ", one for each channel");
    d_expected.words = book.expected();
    for (size_t k = 0; k < (d_wide ? streams : 1); ++k) {
        d_receivers.push_back(
            std::make_unique<receiver>(receiver_limits{}, longest_answer_words));
        d_receivers.back()->expect(d_expected.words);
        d_ears.push_back(
            { kernel::carrier_detector(kernel::symbol_grid(symbol_rate_bd)), {} });
    }
    d_tuned.emplace_back(0, 0);
}

station_time link_radio::now() const
{
    return station_time(d_samples / rate * 1000000000 +
                        d_samples % rate * 1000000000 / rate);
}

void link_radio::receive(const std::vector<const sample*>& in, size_t n, sample* modem)
{
    d_zeros.resize(std::max(d_zeros.size(), n));
    if (!d_expected.words.frames.empty() && d_link.state() != d_expected.state)
        await_nothing();
    d_samples += static_cast<int64_t>(n);
    const bool off = d_sending.has_value() || deaf();
    const auto state = d_link.state();
    const bool joined = state == link_state::linked || state == link_state::handshake;
    const sample* here = off ? d_zeros.data() : in[stream()];
    std::copy(
        joined ? here : d_zeros.data(), (joined ? here : d_zeros.data()) + n, modem);
    if (d_wide)
        for (size_t k = 0; k < d_streams; ++k)
            hear(k, d_sending ? d_zeros.data() : in[k], n);
    else
        hear(0, here, n);
    if (!d_wide && !d_detected && d_receivers[0]->presence().value_or(false)) {
        d_detected = true; // once in a dwell
        d_link.detected(d_link.channel(), now());
    }
    d_link.advance(now());
    take_actions();
}

void link_radio::hear(size_t receiver, const sample* x, size_t n)
{
    sense(receiver, x, n);
    d_receivers[receiver]->push(x, n);
    while (const auto e = d_receivers[receiver]->poll()) {
        d_ears[receiver].voices.reset(); // the tones of ALE have a pitch of 250 Hz
        d_link.receive(
            d_wide ? receiver : channel_at(e->start_s + heard_part_s), *e, now());
    }
}

void link_radio::sense(size_t receiver, const sample* x, size_t n)
{
    auto& ear = d_ears[receiver];
    ear.modems.push(x, n);
    ear.voices.push(x, n);
    if (ear.busy() == ear.reported)
        return;
    ear.reported = ear.busy();
    d_link.busy(d_wide ? receiver : d_tuned.back().second, ear.reported, now());
}

size_t link_radio::channel_at(double seconds) const
{
    size_t channel = d_tuned.front().second;
    for (const auto& [from, c] : d_tuned)
        if (static_cast<double>(from) <= seconds * rate)
            channel = c;
    return channel;
}

void link_radio::take_actions()
{
    while (auto a = d_link.poll()) {
        d_keeper.on_action(*a, now());
        if (a->what == link_action::kind::tune) {
            if (!d_wide) {
                if (d_ears[0].reported) // nobody knows later when it has ended
                    d_link.busy(d_tuned.back().second, false, now());
                d_ears[0].modems.reset();
                d_ears[0].voices.reset();
                d_ears[0].reported = false;
            }
            d_tuned.emplace_back(d_samples, a->channel);
            while (d_tuned.size() > 1 && d_tuned[1].first < d_samples - tuned_memory)
                d_tuned.pop_front();
            d_tuned_at = d_samples + d_tune;
            if (!d_wide) {
                d_receivers[0]->start_presence();
                d_detected = false;
            }
        }
        if (a->what == link_action::kind::transmit) {
            d_sending.emplace(a->words, static_cast<double>(rate), subcarrier_hz);
            d_expected.answers = a->answers;
            d_started = false;
        }
        if (d_reported.size() < max_reported)
            d_reported.push_back(std::move(*a));
    }
}

link_radio::tx_span
link_radio::transmit(const sample* modem, size_t n, const std::vector<sample*>& out)
{
    tx_span span;
    for (auto* o : out)
        std::fill_n(o, n, sample());
    auto* here = out[stream()];
    if (!d_sending) {
        if (d_link.state() == link_state::linked)
            std::copy(modem, modem + n, here);
        return span;
    }
    if (d_samples < d_tuned_at)
        return span;
    const size_t done = d_sending->produce(here, n);
    if (!d_started && done > 0)
        span.first = 0;
    d_started = true;
    if (done < n) {
        span.last = done > 0 ? done - 1 : 0;
        d_sending.reset();
        await_answer();
        take_actions();
    }
    return span;
}

// The transmission is over.
void link_radio::await_answer()
{
    d_link.transmitted(now());
    d_expected.words.frames = std::move(d_expected.answers);
    d_expected.receiver = d_wide ? d_link.channel() : 0;
    d_expected.state = d_link.state();
    d_receivers[d_expected.receiver]->expect(d_expected.words);
}

void link_radio::await_nothing()
{
    d_expected.words.frames.clear();
    d_receivers[d_expected.receiver]->expect(d_expected.words);
}

std::optional<link_action> link_radio::poll()
{
    if (d_reported.empty())
        return std::nullopt;
    link_action a = std::move(d_reported.front());
    d_reported.pop_front();
    return a;
}

} // namespace gr::hf::ale
