/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/proxy_impl.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::hfpep {

namespace {

// The log may have no reader.
constexpr size_t log_max = 1000;

} // namespace

void proxy::impl::log(std::string line)
{
    if (d_log.size() < log_max)
        d_log.push_back(std::move(line));
}

void proxy::impl::give_up(connection& c)
{
    const auto waited_s = std::lround(to_seconds(d_now - *c.contact_from));
    log("HF-PEP: no answer from " + c.far.node.to_string() + ", connection to " +
        c.to.to_string() + " given up after " + std::to_string(waited_s) + " s");
    ++d_stats.failed;
    drop(c, slep::reason_local_abort, status::host_unreachable);
}

void proxy::impl::check_contacts()
{
    const std::vector<connection_id> ids(d_contacts.begin(), d_contacts.end());
    for (const connection_id id : ids) {
        connection& c = *find(id);
        const s5066::address node = c.far.node;
        if (d_link.heard(node)) {
            c.contact_from.reset();
            d_contacts.erase(id);
        } else if (d_link.failures(node) > c.failures_before &&
                   d_link.outstanding(node) == 0) {
            give_up(c); // SLEP has given up the link, too
        }
    }
}

std::optional<station_time> proxy::impl::next_deadline() const
{
    std::optional<station_time> first = d_link.next_deadline();
    const auto maybe = [&first](const std::optional<station_time>& t) {
        if (t && (!first || *t < *first))
            first = t;
    };
    for (const auto& entry : d_connections) {
        const connection& c = entry.second;
        maybe(c.start_at);
        maybe(c.connect_by);
        if (c.how.idle_max > station_time(0))
            maybe(c.last_use + c.how.idle_max);
    }
    return first;
}

void proxy::impl::on_deadline()
{
    d_link.on_deadline(d_now);
    std::vector<connection_id> ids;
    for (const auto& c : d_connections)
        ids.push_back(c.first);
    for (const connection_id id : ids) {
        connection& c = *find(id);
        if (c.how.idle_max > station_time(0) && c.last_use + c.how.idle_max <= d_now) {
            drop(c, slep::reason_local_abort, status::timed_out);
        } else if (c.connect_by && *c.connect_by <= d_now) {
            ++d_stats.failed;
            if (!c.local)
                d_link.refuse(d_now, c.stream, uint8_t(status::timed_out));
            drop(c, 0, status::timed_out);
        } else if (c.start_at && *c.start_at <= d_now) {
            // While the transmitter is busy, waiting costs nothing.
            const station_time latest = c.since + d_config.hold_max;
            if (c.out.held.empty() && d_now < latest &&
                d_link.outstanding(c.far.node) > 0)
                c.start_at = latest;
            else
                start(c);
        }
    }
}

} // namespace gr::hf::hfpep
