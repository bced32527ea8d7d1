/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/forwarder.h"
#include "dns/forwarder_impl.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::dns {

namespace {

template <typename T>
void require(bool ok, const char* name, T value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": expected " + allowed);
}

void require_name(const std::string& text, const char* what)
{
    if (text != "." && (text.empty() || !normal_name(text)))
        throw std::invalid_argument(std::string(what) + " '" + text +
                                    "': expected a name such as example.org");
}

} // namespace

bool below(const std::string& name, const std::string& suffix)
{
    if (suffix == ".")
        return true;
    const size_t n = suffix.size();
    return name.size() >= n && name.compare(name.size() - n, n, suffix) == 0 &&
           (name.size() == n || name[name.size() - n - 1] == '.');
}

octets without_id(octets message)
{
    message.erase(message.begin(), message.begin() + 2);
    return message;
}

octets with_id(const octets& message)
{
    octets d(message.size() + 2);
    std::copy(message.begin(), message.end(), d.begin() + 2);
    return d;
}

std::vector<std::string> default_blocked()
{
    std::vector<std::string> names = { "local",
                                       "localdomain",
                                       "invalid",
                                       "test",
                                       "onion",
                                       "home.arpa",
                                       "lan",
                                       "use-application-dns.net",
                                       "localhost",
                                       "wpad",
                                       "isatap",
                                       "10.in-addr.arpa",
                                       "127.in-addr.arpa",
                                       "168.192.in-addr.arpa",
                                       "254.169.in-addr.arpa",
                                       "d.f.ip6.arpa",
                                       "c.f.ip6.arpa",
                                       "8.e.f.ip6.arpa" };
    for (int k = 16; k < 32; ++k)
        names.push_back(std::to_string(k) + ".172.in-addr.arpa");
    return names;
}

void forwarder_config::validate() const
{
    slep.validate();
    require(priority <= 15, "priority", unsigned(priority), "0 to 15");
    require(pending_max >= 1 && pending_max <= 65536,
            "pending_max",
            pending_max,
            "1 to 65536");
    require(waiters_max >= 1, "waiters_max", waiters_max, "1 or more");
    require(addresses_max >= 1 && addresses_max <= 15,
            "addresses_max",
            addresses_max,
            "1 to 15");
    require(limits.ttl_min_s <= limits.ttl_max_s,
            "cache floor",
            limits.ttl_min_s,
            "not above the ceiling");
    require(
        stale_ttl_s <= cache_limits::stale_s, "stale_ttl_s", stale_ttl_s, "0 to 86400 s");
    for (const station_time t : { wait_max, stale_wait, upstream_wait })
        require(t > station_time(0) && t <= std::chrono::hours(1),
                "wait",
                to_seconds(t),
                "above 0, up to 3600 s");
    for (const name_route& r : routes) {
        require_name(r.suffix, "DNS route");
        if (r.node.is_group())
            throw std::invalid_argument("DNS route to " + r.node.to_string() +
                                        ": expected a node, not a group");
    }
    for (const local_name& l : local)
        require_name(l.name, "local name");
    for (const std::string& b : blocked)
        require_name(b, "blocked name");
}

forwarder::forwarder(const forwarder_config& c) : d_impl(std::make_unique<impl>(c)) {}
forwarder::~forwarder() = default;

bool forwarder::on_query(station_time now, uint64_t client, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    return d_impl->on_query(client, p, n);
}

void forwarder::on_response(station_time now, uint64_t id, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    d_impl->on_response(id, p, n);
}

void forwarder::on_ask_failed(station_time now, uint64_t id)
{
    d_impl->d_now = now;
    d_impl->on_ask_failed(id);
}

std::optional<action> forwarder::poll_action()
{
    if (d_impl->d_actions.empty())
        return std::nullopt;
    action a = std::move(d_impl->d_actions.front());
    d_impl->d_actions.pop_front();
    return a;
}

void forwarder::sis_in(station_time now, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    d_impl->d_link.sis_in(now, p, n);
    d_impl->pump();
}

void forwarder::sis_reset(station_time now)
{
    d_impl->d_now = now;
    d_impl->d_link.sis_reset(now);
    d_impl->pump();
}

std::optional<octets> forwarder::poll_sis() { return d_impl->d_link.poll_sis(); }

std::optional<station_time> forwarder::next_deadline() const
{
    return d_impl->next_deadline();
}

void forwarder::on_deadline(station_time now)
{
    d_impl->d_now = now;
    d_impl->on_deadline();
}

bool forwarder::bound() const { return d_impl->d_link.bound(); }

forwarder_stats forwarder::stats() const
{
    forwarder_stats s = d_impl->d_stats;
    s.cache_entries = d_impl->d_cache.size();
    return s;
}

const forwarder_config& forwarder::config() const { return d_impl->d_config; }

} // namespace gr::hf::dns
