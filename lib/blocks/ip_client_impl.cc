/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/engine_block.h"
#include "blocks/routes.h"
#include "blocks/settings.h"
#include "edges/ip_edge.h"
#include "ip/client.h"

#include <gnuradio/io_signature.h>
#include <hf/ip_client.h>

#include <mutex>

namespace gr::hf {
namespace {

// A display with more flows is no use.
constexpr size_t max_flows = 100;

std::string end_of(const ip::address& a, uint16_t port)
{
    if (port == 0)
        return a.to_string();
    const std::string text = a.is_v6() ? "[" + a.to_string() + "]" : a.to_string();
    return text + ":" + std::to_string(port);
}

std::string protocol_name(uint8_t number)
{
    static const std::map<uint8_t, std::string> names = {
        { 0, "several" }, { 1, "ICMP" }, { 6, "TCP" }, { 17, "UDP" }, { 58, "ICMPv6" }
    };
    const auto it = names.find(number);
    return it == names.end() ? std::to_string(number) : it->second;
}

ip_flow shown(const ip::client_flow& c, station_time now)
{
    const ip::waiting_flow& f = c.flow;
    return { c.node.to_string(),
             protocol_name(f.protocol),
             end_of(f.src, f.src_port),
             end_of(f.dst, f.dst_port),
             c.interactive,
             f.packets,
             f.octets,
             to_seconds(now - f.since) };
}

//! Engine and TUN device. Lives on the io_thread.
class ip_client_core : public engine_block<ip::client>
{
public:
    ip_client_core(const std::string& device,
                   const std::string& address,
                   const ip::client_config& config,
                   const std::string& netns)
        : gr::block("hf_ip_client_core",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          engine_block(netns, config), d_rules(config.filter),
          d_edge(io().context(),
                 engine(),
                 device,
                 address,
                 static_cast<int>(config.mtu),
                 { [this] { return now(); },
                   [this] { pump(); },
                   [this](const std::string& line) {
                       log("IP client: " + line);
                       d_logger->error("{}", line);
                   } })
    {
        open_now();
    }
    ~ip_client_core() override { close_now(); }

    ip::client_stats stats() const
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        return d_stats;
    }

    std::vector<ip_flow> flows() const
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        return d_flows;
    }

    //! The filter, in the order of ip::client_stats::per_rule.
    const std::vector<ip::filter_rule>& rules() const { return d_rules; }

protected:
    bool engine_drain() override
    {
        const bool any = d_edge.drain();
        show();
        return any;
    }
    void open() override { d_edge.open(); }
    void close() override { d_edge.close(); }

private:
    // Snapshot for displays. Flows at most every 100 ms of station time, since there may
    // be many.
    void show()
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        d_stats = engine().stats();
        if (now() < d_show_at)
            return;
        d_show_at = now() + std::chrono::milliseconds(100);
        d_flows.clear();
        for (const auto& f : engine().flows(max_flows))
            d_flows.push_back(shown(f, now()));
    }

    const std::vector<ip::filter_rule> d_rules;
    ip_edge d_edge;
    mutable std::mutex d_shown_mutex;
    ip::client_stats d_stats;
    std::vector<ip_flow> d_flows;
    station_time d_show_at{};
};

const setting_table<ip::client_config>& all_settings()
{
    using config = ip::client_config;
    using table = setting_table<config>;
    constexpr double octets_max = 1 << 26, day_s = 86400;
    static const table all = [] {
        std::map<std::string, table::setting> m = {
            { "sap",
              table::number(
                  [](config & c) -> auto& { return c.sap; },
                  15,
                  "",
                  "SAP of the IP client, at both ends") },
            { "waiting_octets",
              table::number(
                  [](config & c) -> auto& { return c.queue.octets_max; },
                  octets_max,
                  "octets",
                  "longest queue",
                  2048) },
            { "age_s",
              table::seconds(
                  [](config & c) -> auto& { return c.queue.age_max; },
                  day_s,
                  "s",
                  "longest time in the queue; older packets are dropped",
                  1) },
            { "thin_acks",
              table::number(
                  [](config & c) -> auto& { return c.queue.thin_acks; },
                  1,
                  "",
                  "1: of the waiting ACKs of a TCP connection only the newest is sent") },
            { "drop_repeats",
              table::number(
                  [](config & c) -> auto& { return c.queue.drop_repeats; },
                  1,
                  "",
                  "1: a repeat of a TCP segment that is already on its way is dropped") },
            { "rate",
              table::number(
                  [](config & c) -> auto& { return c.rate; },
                  1e9,
                  "bit/s",
                  "rate at which datagrams without ARQ are passed to the data link",
                  1) },
            { "use_tos",
              table::number(
                  [](config & c) -> auto& { return c.use_tos; },
                  1,
                  "",
                  "1: bits of the TOS field choose the delivery mode") },
            { "multicast_repeats",
              table::number(
                  [](config & c) -> auto& { return c.multicast_repeats; },
                  15,
                  "",
                  "extra copies of each multicast packet") },
            { "fragment",
              table::number(
                  [](config & c) -> auto& { return c.fragment; },
                  1,
                  "",
                  "1: a packet that is too long is fragmented if that is allowed") },
            { "clamp_window",
              table::number(
                  [](config & c) -> auto& { return c.clamp_window; },
                  1,
                  "",
                  "1: the window that TCP offers is limited to what the link carries") },
        };
        for (size_t dscp = 0; dscp < 64; ++dscp)
            m["dscp_" + std::to_string(dscp)] = table::number(
                [dscp](config & c) -> auto& { return c.dscp[dscp]; },
                15,
                "",
                "STANAG 5066 priority of packets with this DSCP");
        return table("IP client", std::move(m));
    }();
    return all;
}

ip::client_config make_config(const std::string& address,
                              const std::vector<std::string>& table,
                              int mtu,
                              size_t queue_octets,
                              const std::vector<std::string>& filter,
                              const std::string& queue,
                              const std::map<std::string, double>& settings)
{
    ip::client_config c;
    if (mtu < 576 || mtu > 2048)
        throw std::invalid_argument("mtu " + std::to_string(mtu) +
                                    ": allowed are 576 to 2048 octets");
    if (queue != "fair" && queue != "whole")
        throw std::invalid_argument("queue '" + queue + "': allowed are fair and whole");
    c.mtu = static_cast<size_t>(mtu);
    c.queue_octets = queue_octets;
    c.queue.policy = queue == "fair" ? ip::queue_policy::fair : ip::queue_policy::whole;
    for (const auto& own : tun_device::addresses(address))
        c.own.push_back(own.address);
    for (const auto& entry : table) {
        const auto [prefix, node] = parse_route(entry);
        c.table.push_back({ ip::prefix(prefix), node });
    }
    // The operator's rules come before the default list.
    std::vector<ip::filter_rule> rules;
    for (const auto& words : filter)
        rules.push_back(ip::parse_filter_rule(words));
    c.filter.insert(c.filter.begin(), rules.begin(), rules.end());
    all_settings().apply(settings, c);
    c.validate();
    return c;
}

class ip_client_impl : public ip_client
{
public:
    ip_client_impl(const std::string& device,
                   const std::string& address,
                   const std::vector<std::string>& table,
                   int mtu,
                   size_t queue_octets,
                   const std::string& netns,
                   bool real_time,
                   const std::vector<std::string>& filter,
                   const std::string& queue,
                   const std::map<std::string, double>& settings)
        : gr::hier_block2("hf_ip_client",
                          gr::io_signature::make(0, 0, 0),
                          gr::io_signature::make(0, 0, 0)),
          d_core(gnuradio::make_block_sptr<ip_client_core>(
              device,
              address,
              make_config(address, table, mtu, queue_octets, filter, queue, settings),
              netns))
    {
        d_ticker = put_inside(*this, d_core, real_time);
    }

    std::map<std::string, uint64_t> stats() const override
    {
        const auto s = d_core->stats();
        std::map<std::string, uint64_t> all = {
            { "from_host", s.from_host },
            { "sent", s.sent },
            { "sent_octets", s.sent_octets },
            { "confirmed", s.confirmed },
            { "rejected", s.rejected },
            { "received", s.received },
            { "received_octets", s.received_octets },
            { "bad_from_host", s.bad_from_host },
            { "bad_from_hf", s.bad_from_hf },
            { "spoofed", s.spoofed },
            { "no_route", s.no_route },
            { "too_big", s.too_big },
            { "fragmented", s.fragmented },
            { "windows_lowered", s.windows_lowered },
            { "hops_exceeded", s.hops_exceeded },
            { "unreachable", s.unreachable },
            { "duplicates", s.queues.duplicates },
            { "repeats_dropped", s.queues.repeats_dropped },
            { "acks_thinned", s.queues.acks_thinned },
            { "flushed_queues", s.queues.flushed_queues },
            { "flushed_packets", s.queues.flushed_packets },
            { "overflowed", s.queues.overflowed },
            { "marked", s.queues.marked },
            { "delay_dropped", s.queues.delay_dropped },
            { "icmp_sent", s.icmp_sent },
            { "icmp_suppressed", s.icmp_suppressed },
            { "host_overflow", s.host_overflow },
            { "invalid_primitives", s.invalid_primitives }
        };
        const auto& rules = d_core->rules();
        for (size_t k = 0; k < rules.size() && k < s.per_rule.size(); ++k)
            all["rule " + rules[k].name] += s.per_rule[k];
        return all;
    }

    std::vector<ip_flow> flows() const override { return d_core->flows(); }

private:
    std::shared_ptr<ip_client_core> d_core;
    ticker::sptr d_ticker;
};

} // namespace

ip_client::sptr ip_client::make(const std::string& device,
                                const std::string& address,
                                const std::vector<std::string>& table,
                                int mtu,
                                size_t queue_octets,
                                const std::string& netns,
                                bool real_time,
                                const std::vector<std::string>& filter,
                                const std::string& queue,
                                const std::map<std::string, double>& settings)
{
    return gnuradio::make_block_sptr<ip_client_impl>(device,
                                                     address,
                                                     table,
                                                     mtu,
                                                     queue_octets,
                                                     netns,
                                                     real_time,
                                                     filter,
                                                     queue,
                                                     settings);
}

std::map<std::string, double> ip_client::settings() { return all_settings().values({}); }
std::vector<setting_info> ip_client::describe_settings()
{
    return all_settings().describe();
}

} // namespace gr::hf
