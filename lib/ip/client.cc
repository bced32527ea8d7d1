/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/client.h"
#include "ip/client_impl.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::ip {

namespace {

// Limit of packets that the host has not read yet.
constexpr size_t host_octets_max = 1 << 22;
constexpr size_t buckets_max = 256;
// ICMP errors to one destination, after a burst of icmp_burst (RFC 1812, 4.3.2.8 asks for a limit).
constexpr double icmp_per_second = 1;
// Repeats of a delivered TCP segment are suppressed for this long.
constexpr station_time repeat_wait = std::chrono::minutes(1);

//! TCP octets that may be on their way to a node: those on the air, and enough to follow.
size_t window_for(const client_config& c)
{
    const bool clamp = c.clamp_window && c.queue.policy == queue_policy::fair;
    return clamp ? c.queue_octets + c.queue_octets / 2 : size_t(1) << 30;
}

template <typename T>
void require(bool ok, const char* name, T value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                    ": expected " + allowed);
}

} // namespace

void client_config::validate() const
{
    require(sap <= 15, "sap", unsigned(sap), "0 to 15");
    require(rank <= 14, "rank", unsigned(rank), "0 to 14");
    require(mtu >= 576 && mtu <= 2048, "mtu", mtu, "576 to 2048");
    const auto octets_ok = [](size_t v) { return v >= 2048 && v <= (size_t(1) << 26); };
    const char* octets_text = "2048 to 2^26 octets";
    require(octets_ok(queue_octets), "queue_octets", queue_octets, octets_text);
    require(octets_ok(queue.octets_max), "waiting_octets", queue.octets_max, octets_text);
    const auto age_ok = [](station_time t) {
        return t >= std::chrono::seconds(1) && t <= std::chrono::hours(24);
    };
    require(age_ok(queue.age_max), "age_max", to_seconds(queue.age_max), "1 s to 24 h");
    require(multicast_repeats <= 15,
            "multicast_repeats",
            unsigned(multicast_repeats),
            "0 to 15");
    for (const uint8_t priority : dscp)
        require(priority <= 15, "priority of a DSCP", unsigned(priority), "0 to 15");
    require(rate >= 1 && rate <= 1e9, "rate", rate, "1 to 10^9 bit/s");
    require(icmp_burst >= 1, "icmp_burst", icmp_burst, "1 or more");
    for (const table_entry& e : table)
        if (e.node.is_group() && !e.to.base().is_multicast())
            throw std::invalid_argument("table entry " + e.to.to_string() + " via " +
                                        e.node.to_string() +
                                        ": expected a node for unicast addresses");
    for (const filter_rule& r : filter)
        r.validate();
}

client::impl::impl(const client_config& c)
    : d_config((c.validate(), c)),
      d_sis(s5066::sis_client::config::confirmed(c.sap, c.rank)),
      d_tcp(window_for(c), repeat_wait)
{
    for (const table_entry& e : c.table)
        d_table.add(e.to, e.node);
    d_stats.per_rule.assign(c.filter.size(), 0);
}

size_t client::impl::mtu() const { return std::min(d_config.mtu, d_sis.mtu()); }

const s5066::address* client::impl::route(const address& a) const
{
    return d_table.find(a);
}

const filter_rule* client::impl::classify(const packet_view& v)
{
    for (size_t k = 0; k < d_config.filter.size(); ++k) {
        if (!d_config.filter[k].matches(v))
            continue;
        ++d_stats.per_rule[k];
        return &d_config.filter[k];
    }
    return nullptr;
}

void client::impl::to_host(octets packet)
{
    if (d_host_octets + packet.size() > host_octets_max) {
        ++d_stats.host_overflow;
        return;
    }
    d_host_octets += packet.size();
    d_to_host.push_back(std::move(packet));
}

bool client::impl::icmp_allowed(const address& to)
{
    const auto fresh = d_buckets.try_emplace(to);
    bucket& b = fresh.first->second;
    const double most = static_cast<double>(d_config.icmp_burst);
    if (fresh.second)
        b.tokens = most;
    else
        b.tokens = std::min(most, b.tokens + to_seconds(d_now - b.at) * icmp_per_second);
    b.at = d_now;
    const bool allowed = b.tokens >= 1;
    if (allowed)
        b.tokens -= 1;
    if (d_buckets.size() > buckets_max)
        d_buckets.erase(std::min_element(
            d_buckets.begin(), d_buckets.end(), [](const auto& x, const auto& y) {
                return x.second.at < y.second.at;
            }));
    return allowed;
}

void client::impl::error(icmp_error e, const packet_view& about)
{
    const auto is_own = [&about](const address& a) { return a == about.src; };
    const bool own = std::any_of(d_config.own.begin(), d_config.own.end(), is_own);
    // An error about a packet from HF would cost more than it is worth, except about the
    // MTU.
    if (!own && e != icmp_error::too_big && route(about.src) != nullptr) {
        ++d_stats.icmp_suppressed;
        return;
    }
    for (const address& from : d_config.own) {
        if (from.is_v6() != (about.version == 6))
            continue;
        auto message = make_icmp_error(e, about, from, mtu());
        if (!message)
            return;
        if (!icmp_allowed(about.src)) {
            ++d_stats.icmp_suppressed;
            return;
        }
        ++d_stats.icmp_sent;
        to_host(std::move(*message));
        return;
    }
}

void client::impl::clamp(octets& packet, int version) const
{
    ip::clamp_mss(packet, static_cast<uint16_t>(mtu() - (version == 6 ? 60 : 40)));
}

void client::impl::on_packet(const uint8_t* p, size_t n)
{
    ++d_stats.from_host;
    const auto v = read_packet(p, n);
    if (!v) {
        ++d_stats.bad_from_host;
        return;
    }
    const filter_rule plain;
    const filter_rule* rule = classify(*v);
    if (rule == nullptr)
        rule = &plain;
    if (rule->what == verdict::drop)
        return;
    if (rule->what == verdict::port_unreachable) {
        ++d_stats.unreachable;
        error(icmp_error::port_unreachable, *v);
        return;
    }
    const s5066::address* node = route(v->dst);
    if (node == nullptr) {
        ++d_stats.no_route;
        error(icmp_error::net_unreachable, *v);
        return;
    }
    if (v->hops <= 1) {
        ++d_stats.hops_exceeded;
        error(icmp_error::time_exceeded, *v);
        return;
    }
    if (n <= mtu()) {
        queue_packet(*v, *rule);
        return;
    }
    const auto pieces = d_config.fragment ? fragments(*v, mtu()) : std::vector<octets>();
    if (pieces.empty()) {
        ++d_stats.too_big;
        if (v->dont_fragment)
            error(icmp_error::too_big, *v);
        return;
    }
    ++d_stats.fragmented;
    for (const octets& piece : pieces)
        if (const auto part = read_packet(piece.data(), piece.size()))
            queue_packet(*part, *rule);
}

void client::impl::queue_packet(const packet_view& v, const filter_rule& rule)
{
    const s5066::address& node = *route(v.dst);
    if (d_config.queue.policy == queue_policy::fair && d_config.queue.drop_repeats)
        if (const auto segment = key_of_segment(v);
            segment && d_tcp.under_way(d_now, *segment)) {
            ++d_stats.queues.repeats_dropped;
            return;
        }
    d_tcp.from_host(d_now, v);
    waiting_packet w;
    w.packet.assign(v.data, v.data + v.size);
    decrement_hops(w.packet);
    clamp(w.packet, v.version);
    w.since = d_now;
    // RFC 1349: delay, throughput, reliability, cost.
    const unsigned tos = d_config.use_tos ? v.traffic_class >> 1 & 15u : 0;
    constexpr unsigned delay = 8, reliability = 2, cost = 1;
    const bool multicast = v.dst.is_multicast();
    w.arq =
        rule.arq.value_or(!multicast && tos != delay && tos != cost) && !node.is_group();
    w.priority = rule.priority.value_or(d_config.dscp[v.traffic_class >> 2]);
    if (!w.arq) {
        w.repeats =
            std::max(rule.repeats, multicast ? d_config.multicast_repeats : uint8_t(0));
        if (multicast && (tos & reliability) != 0)
            w.repeats = std::max<uint8_t>(w.repeats, 1);
    }
    w.in_order = rule.in_order && w.arq;
    const service s = rule.interactive ? interactive : ordinary;
    hop_of(node).queue[s].put(d_now, std::move(w), rule.duplicates);
}

void client::impl::from_hf(const s5066::s_unidata_indication& u)
{
    const auto v = read_packet(u.u_pdu.data(), u.u_pdu.size());
    if (!v || u.dst_sap != d_config.sap || !u.errored.empty() || !u.missing.empty()) {
        ++d_stats.bad_from_hf;
        return;
    }
    const s5066::address* node = route(v->src);
    if (node == nullptr || *node != u.src) {
        ++d_stats.spoofed;
        return;
    }
    ++d_stats.received;
    d_stats.received_octets += v->size;
    octets packet = u.u_pdu;
    clamp(packet, v->version);
    d_stats.windows_lowered += d_tcp.from_hf(d_now, packet) ? 1 : 0;
    to_host(std::move(packet));
}

client::client(const client_config& c) : d_impl(std::make_unique<impl>(c)) {}
client::~client() = default;

void client::on_packet(station_time now, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    d_impl->on_packet(p, n);
}

std::optional<octets> client::poll_packet()
{
    if (d_impl->d_to_host.empty())
        return std::nullopt;
    octets packet = std::move(d_impl->d_to_host.front());
    d_impl->d_to_host.pop_front();
    d_impl->d_host_octets -= packet.size();
    return packet;
}

void client::sis_in(station_time now, const uint8_t* p, size_t n)
{
    d_impl->d_now = now;
    d_impl->sis_in(p, n);
}

void client::sis_reset(station_time now)
{
    d_impl->d_now = now;
    d_impl->d_sis.reset(now);
    d_impl->lost_sis();
}

std::optional<octets> client::poll_sis() { return d_impl->poll_sis(); }

std::optional<station_time> client::next_deadline() const
{
    return d_impl->next_deadline();
}

void client::on_deadline(station_time now)
{
    d_impl->d_now = now;
    d_impl->on_deadline();
}

bool client::bound() const { return d_impl->d_sis.bound(); }

std::vector<client_flow> client::flows(size_t most) const
{
    std::vector<client_flow> found;
    for (const auto& [node, hop] : d_impl->d_hops)
        for (const service s : { interactive, ordinary })
            for (waiting_flow& f : hop.queue[s].flows())
                found.push_back({ node, s == interactive, std::move(f) });
    const auto end = found.begin() + static_cast<long>(std::min(most, found.size()));
    std::partial_sort(
        found.begin(), end, found.end(), [](const client_flow& a, const client_flow& b) {
            return a.flow.octets > b.flow.octets;
        });
    found.erase(end, found.end());
    return found;
}

size_t client::waiting(const s5066::address& node) const
{
    const auto it = d_impl->d_hops.find(node);
    if (it == d_impl->d_hops.end())
        return 0;
    return it->second.queue[interactive].octets_waiting() +
           it->second.queue[ordinary].octets_waiting();
}

const client_stats& client::stats() const { return d_impl->d_stats; }
const client_config& client::config() const { return d_impl->d_config; }

} // namespace gr::hf::ip
