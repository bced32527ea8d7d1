/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/config/node_log.h"

#include <utility>

namespace gr::hf::s5066 {

namespace {

constexpr size_t max_kept = 10000;

template <typename T>
void push(std::deque<T>& q, T item)
{
    if (q.size() >= max_kept)
        q.pop_front();
    q.push_back(std::move(item));
}

template <typename T>
std::optional<T> pop(std::deque<T>& q)
{
    if (q.empty())
        return std::nullopt;
    std::optional<T> r(std::move(q.front()));
    q.pop_front();
    return r;
}

} // namespace

const char* to_string(d_pdu_fate f)
{
    static constexpr const char* names[] = { "sent",     "sent again", "sent as fill",
                                             "received", "damaged",    "unread" };
    return names[static_cast<size_t>(f)];
}

void node_log::trace(station_time now, std::string text, std::optional<d_pdu_note> d_pdu)
{
    if (d_config.trace)
        push(d_lines, { now, std::move(text), d_pdu, d_pdu.has_value() });
}

void node_log::detail(station_time now, std::string text)
{
    if (d_config.trace)
        push(d_lines, { now, std::move(text), {}, true });
}

void node_log::tap(station_time now,
                   bool sent,
                   bool segment_ok,
                   const std::vector<uint8_t>& octets)
{
    if (d_config.tap)
        push(d_records, { now, sent, segment_ok, octets });
}

std::optional<log_record> node_log::poll_trace() { return pop(d_lines); }
std::optional<tap_record> node_log::poll_tap() { return pop(d_records); }

} // namespace gr::hf::s5066
