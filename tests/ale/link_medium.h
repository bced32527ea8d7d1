/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/link/link_machine.h"

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace gr::hf::test {

/*! \brief Link engines on a simulated medium of several channels, in virtual time.
 *  \details A word arrives if the receiver was on its channel all the time and did not
 *  transmit, if no other station transmitted there, and if it is not lost. Receivers need
 *  \ref latency more, and report a missing word at each expected end, then the end.
 */
class link_medium
{
public:
    //! An action of a station, and when.
    struct entry {
        station_time at{};
        size_t station = 0;
        ale::link_action action;
    };
    struct transmission {
        size_t station = 0, channel = 0;
        std::vector<ale::word> words;
        station_time start{}, end{};
        std::string text;
    };
    //! Time of receivers after the end of a word, and of transmitters before the first.
    station_time latency = std::chrono::milliseconds(100);
    station_time key_delay = std::chrono::milliseconds(50);
    //! SNR of a channel between any stations, dB; below -10 no word is read.
    std::map<size_t, float> snr_db;
    //! Whether a word of the transmission is lost at the receiving station.
    std::function<bool(const transmission&, size_t word, size_t receiver)> lost;
    //! Stations whose transmitters do nothing, not even end.
    std::set<size_t> broken;

    size_t add(const ale::link_settings& settings,
               const ale::address_book& book,
               uint64_t seed = 1)
    {
        d_wide.push_back(settings.wide);
        d_stations.push_back(std::make_unique<ale::link_machine>(settings, book, seed));
        d_tuned.push_back({ { station_time(0), 0 } });
        d_heard.emplace_back(settings.channels, none);
        return d_stations.size() - 1;
    }
    ale::link_machine& at(size_t station) { return *d_stations[station]; }
    station_time now() const { return d_now; }

    //! Run until the station time \p end.
    void run(station_time end)
    {
        if (d_now == station_time(0))
            each_advance();
        for (;;) {
            collect();
            station_time next = end;
            if (!d_events.empty())
                next = std::min(next, d_events.begin()->first);
            for (const auto& s : d_stations)
                next = std::min(next, s->next_deadline().value_or(end));
            if (next >= end)
                break;
            d_now = std::max(next, d_now);
            if (!d_events.empty() && d_events.begin()->first <= d_now) {
                const auto event = d_events.begin()->second;
                d_events.erase(d_events.begin());
                event();
            } else {
                each_advance();
            }
        }
        d_now = end;
        each_advance();
        collect();
    }
    //! Run until the station has such an entry that is not older than now. False: not in time.
    bool run_until(size_t station, ale::link_action::kind what, station_time limit)
    {
        const size_t from = d_log.size();
        const station_time end = d_now + limit;
        while (d_now < end) {
            run(d_now + std::chrono::milliseconds(10));
            for (size_t k = from; k < d_log.size(); ++k)
                if (d_log[k].station == station && d_log[k].action.what == what)
                    return true;
        }
        return false;
    }
    const std::vector<entry>& log() const { return d_log; }
    const std::vector<transmission>& transmissions() const { return d_sent; }
    //! Entries of one kind at one station.
    std::vector<entry> of(size_t station, ale::link_action::kind what) const
    {
        std::vector<entry> found;
        for (const auto& e : d_log)
            if (e.station == station && e.action.what == what)
                found.push_back(e);
        return found;
    }
    //! Words that a foreign station sends.
    void send(size_t channel, const ale::frame_plan& plan)
    {
        transmit(foreign, channel, ale::words_of(plan), "");
    }
    void send_words(size_t channel, const std::vector<ale::word>& words)
    {
        transmit(foreign, channel, words, "");
    }

private:
    static constexpr size_t foreign = 1000;

    struct tuning {
        station_time at{};
        size_t channel = 0;
    };

    void each_advance()
    {
        for (auto& s : d_stations)
            s->advance(d_now);
    }

    void collect()
    {
        for (size_t k = 0; k < d_stations.size(); ++k)
            while (const auto a = d_stations[k]->poll()) {
                d_log.push_back({ d_now, k, *a });
                if (a->what == ale::link_action::kind::tune)
                    d_tuned[k].push_back({ d_now, a->channel });
                if (a->what == ale::link_action::kind::transmit && !broken.count(k))
                    transmit(k, a->channel, a->words, a->text);
            }
    }

    void transmit(size_t station,
                  size_t channel,
                  const std::vector<ale::word>& words,
                  const std::string& text)
    {
        transmission t{ station, channel, words, d_now + key_delay, {}, text };
        t.end = t.start + static_cast<int>(words.size()) * ale::times::word;
        const size_t number = d_sent.size();
        d_sent.push_back(t);
        // Three words that are missing after the last one end a reception.
        for (size_t w = 0; w < words.size() + 4; ++w) {
            const auto end = t.start + static_cast<int>(w + 1) * ale::times::word;
            d_events.emplace(end + latency, [this, number, w] { word_over(number, w); });
        }
        if (station != foreign)
            d_events.emplace(
                t.end, [this, station] { d_stations[station]->transmitted(d_now); });
    }

    void word_over(size_t number, size_t w)
    {
        const transmission t = d_sent[number];
        const station_time start = t.start + static_cast<int>(w) * ale::times::word;
        for (size_t k = 0; k < d_stations.size(); ++k) {
            if (k == t.station || t.channel >= d_heard[k].size())
                continue;
            auto& heard = d_heard[k][t.channel];
            const bool read = w < t.words.size() && arrives(t, w, k, start);
            ale::rx_event e;
            e.start_s = to_seconds(start);
            e.snr_db = snr_at(t.channel);
            if (read) {
                if (heard != number && !ale::is_routing(t.words[w].kind))
                    continue; // no receiver locks to other words
                heard = number;
                e.text = t.words[w];
                e.votes = 45;
            } else if (heard != number) {
                continue;
            } else if (w == t.words.size() + 3) {
                e.what = ale::rx_event::kind::end;
                heard = none;
            } else {
                e.what = ale::rx_event::kind::lost;
            }
            d_stations[k]->receive(t.channel, e, d_now);
            collect();
        }
    }

    float snr_at(size_t channel) const
    {
        const auto it = snr_db.find(channel);
        return it == snr_db.end() ? 20.0f : it->second;
    }

    bool
    arrives(const transmission& t, size_t w, size_t receiver, station_time start) const
    {
        const station_time end = start + ale::times::word;
        if (snr_at(t.channel) < -10 || !on_channel(receiver, t.channel, start, end))
            return false;
        for (const auto& other : d_sent) {
            const bool same = other.start == t.start && other.station == t.station;
            const bool overlaps = other.start < end && other.end > start;
            if (!same && overlaps &&
                (other.channel == t.channel || other.station == receiver))
                return false;
        }
        return !lost || !lost(t, w, receiver);
    }

    bool on_channel(size_t k, size_t channel, station_time start, station_time end) const
    {
        if (d_wide[k])
            return true;
        size_t at_start = none;
        for (const auto& t : d_tuned[k]) {
            if (t.at <= start)
                at_start = t.channel;
            else if (t.at < end)
                return false; // left, or arrived, within the word
        }
        return at_start == channel;
    }

    static constexpr size_t none = static_cast<size_t>(-1);
    std::vector<std::unique_ptr<ale::link_machine>> d_stations;
    std::vector<bool> d_wide;
    std::vector<std::vector<tuning>> d_tuned;
    std::vector<std::vector<size_t>> d_heard; // transmission followed, by channel
    std::multimap<station_time, std::function<void()>> d_events;
    std::vector<transmission> d_sent;
    std::vector<entry> d_log;
    station_time d_now{ 0 };
};

} // namespace gr::hf::test
