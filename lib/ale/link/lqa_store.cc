/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/lqa_store.h"

#include <algorithm>
#include <numeric>

namespace gr::hf::ale {

lqa_store::cell&
lqa_store::at(const std::string& station, size_t channel, station_time now)
{
    const auto key = std::make_pair(station, channel);
    const auto old = d_cells.find(key);
    if (old == d_cells.end() && d_cells.size() >= max_cells)
        d_cells.erase(
            std::min_element(d_cells.begin(), d_cells.end(), [](auto& a, auto& b) {
                return a.second.at < b.second.at;
            }));
    cell& c = d_cells[key];
    if (now - c.at > lifetime)
        c = {};
    c.at = now;
    return c;
}

const lqa_store::cell*
lqa_store::find(const std::string& station, size_t channel, station_time now) const
{
    const auto it = d_cells.find({ station, channel });
    return it == d_cells.end() || now - it->second.at > lifetime ? nullptr : &it->second;
}

void lqa_store::heard(const std::string& station,
                      size_t channel,
                      double snr_db,
                      station_time now)
{
    cell& c = at(station, channel, now);
    c.heard_db = snr_db;
    c.unanswered = false;
}

std::optional<double>
lqa_store::heard_db(const std::string& station, size_t channel, station_time now) const
{
    const cell* c = find(station, channel, now);
    return c ? c->heard_db : std::nullopt;
}

void lqa_store::reported(const std::string& station,
                         size_t channel,
                         double snr_db,
                         station_time now)
{
    cell& c = at(station, channel, now);
    c.reported_db = snr_db;
    c.unanswered = false;
}

void lqa_store::unanswered(const std::string& station, size_t channel, station_time now)
{
    cell& c = at(station, channel, now);
    c = {};
    c.at = now;
    c.unanswered = true;
}

std::optional<double>
lqa_store::score(const std::string& station, size_t channel, station_time now) const
{
    const cell* c = find(station, channel, now);
    if (!c || (!c->heard_db && !c->reported_db))
        return std::nullopt;
    const double heard = c->heard_db.value_or(c->reported_db.value_or(0));
    return (heard + c->reported_db.value_or(heard)) / 2;
}

std::optional<size_t> lqa_store::unknown(const std::string& station,
                                         size_t count,
                                         size_t except,
                                         station_time now) const
{
    std::optional<size_t> oldest;
    station_time oldest_at{};
    for (size_t k = 0; k < count; ++k) {
        if (k == except || find(station, k, now))
            continue;
        const auto it = d_cells.find({ station, k });
        const station_time at = it == d_cells.end() ? -lifetime : it->second.at;
        if (!oldest || at < oldest_at) {
            oldest = k;
            oldest_at = at;
        }
    }
    return oldest;
}

std::vector<lqa_store::entry> lqa_store::entries(station_time now) const
{
    std::vector<entry> known;
    for (const auto& [key, c] : d_cells)
        if (const auto s = score(key.first, key.second, now))
            known.push_back({ key.first, key.second, *s, now - c.at });
    return known;
}

std::vector<size_t>
lqa_store::order(const std::string& station, size_t count, station_time now) const
{
    std::vector<std::pair<int, double>> keys; // class, then score, the lowest first
    for (size_t k = 0; k < count; ++k) {
        const auto s = score(station, k, now);
        const cell* c = find(station, k, now);
        keys.emplace_back(s ? 0 : (c && c->unanswered ? 2 : 1), s ? -*s : 0.0);
    }
    std::vector<size_t> channels(count);
    std::iota(channels.begin(), channels.end(), size_t{ 0 });
    std::stable_sort(channels.begin(), channels.end(), [&keys](size_t a, size_t b) {
        return keys[a] < keys[b];
    });
    return channels;
}

} // namespace gr::hf::ale
