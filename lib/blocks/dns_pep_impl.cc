/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/engine_block.h"
#include "blocks/routes.h"
#include "blocks/settings.h"
#include "edges/dns_edge.h"

#include <gnuradio/io_signature.h>
#include <hf/dns_pep.h>

#include <mutex>

namespace gr::hf {
namespace {

using endpoint = boost::asio::ip::udp::endpoint;

//! Engine and sockets. Lives on the io_thread.
class dns_pep_core : public engine_block<dns::forwarder>
{
public:
    dns_pep_core(const std::vector<endpoint>& listen,
                 const endpoint& resolver,
                 const dns::forwarder_config& config,
                 const std::string& netns)
        : gr::block("hf_dns_pep_core",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          engine_block(netns, config), d_listen(listen), d_edge(
                                                             io().context(),
                                                             engine(),
                                                             [this] { return now(); },
                                                             [this] { pump(); })
    {
        d_edge.set_resolver(resolver);
        open_now();
    }
    ~dns_pep_core() override { close_now(); }

    dns::forwarder_stats stats() const
    {
        std::lock_guard<std::mutex> lock(d_stats_mutex);
        return d_stats;
    }

protected:
    bool engine_drain() override
    {
        const bool any = d_edge.drain();
        std::lock_guard<std::mutex> lock(d_stats_mutex);
        d_stats = engine().stats();
        return any;
    }
    void open() override
    {
        for (const auto& where : d_listen)
            d_edge.listen(where);
    }
    void close() override { d_edge.close(); }

private:
    const std::vector<endpoint> d_listen;
    dns_edge d_edge;
    mutable std::mutex d_stats_mutex;
    dns::forwarder_stats d_stats;
};

const setting_table<dns::forwarder_config>& all_settings()
{
    using config = dns::forwarder_config;
    using table = setting_table<config>;
    constexpr double hour_s = 3600;
    static const table all(
        "DNS",
        { { "sap",
            table::number(
                [](config & c) -> auto& { return c.slep.sap; },
                15,
                "",
                "SAP of DNS-PEP, at both ends") },
          { "ipv6",
            table::number(
                [](config & c) -> auto& { return c.ipv6; },
                1,
                "",
                "1: ask for AAAA together with A") },
          { "dnssec",
            table::number(
                [](config & c) -> auto& { return c.dnssec; },
                1,
                "",
                "1: DNSSEC signatures are sent to clients that want them") },
          { "priority",
            table::number(
                [](config & c) -> auto& { return c.priority; },
                15,
                "",
                "STANAG 5066 priority of questions and answers") },
          { "wait_s",
            table::seconds(
                [](config & c) -> auto& { return c.wait_max; },
                hour_s,
                "s",
                "longest wait for an answer; then clients get a failure",
                0.01) },
          { "stale_wait_s",
            table::seconds(
                [](config & c) -> auto& { return c.stale_wait; },
                hour_s,
                "s",
                "wait until a client gets a stale answer, if one is cached",
                0.01) },
          { "ttl_min_s",
            table::number(
                [](config & c) -> auto& { return c.limits.ttl_min_s; },
                dns::cache_limits::ttl_max_s,
                "s",
                "shortest time that an answer is kept") } });
    return all;
}

s5066::address node_of(const std::string& text)
{
    const auto node = s5066::address::parse(text);
    if (!node)
        throw std::invalid_argument("DNS peer '" + text +
                                    "': allowed is a node address such as 1.2.0.2");
    return *node;
}

dns::local_name local_of(const std::string& text)
{
    const auto eq = text.find('=');
    const auto address =
        eq == std::string::npos ? std::nullopt : ip::address::parse(text.substr(eq + 1));
    if (!address)
        throw std::invalid_argument("local name '" + text +
                                    "': allowed is NAME=ADDRESS, for example "
                                    "station.hf=10.66.0.1");
    return { text.substr(0, eq), *address };
}

class dns_pep_impl : public dns_pep
{
public:
    dns_pep_impl(const std::vector<endpoint>& listen,
                 const endpoint& resolver,
                 const dns::forwarder_config& config,
                 const std::string& netns,
                 bool real_time)
        : gr::hier_block2("hf_dns_pep",
                          gr::io_signature::make(0, 0, 0),
                          gr::io_signature::make(0, 0, 0)),
          d_core(gnuradio::make_block_sptr<dns_pep_core>(listen, resolver, config, netns))
    {
        d_ticker = put_inside(*this, d_core, real_time);
    }

    std::map<std::string, uint64_t> stats() const override
    {
        const auto s = d_core->stats();
        return { { "queries", s.queries },
                 { "malformed", s.malformed },
                 { "local", s.local },
                 { "cached", s.cached },
                 { "stale", s.stale },
                 { "joined", s.joined },
                 { "asked", s.asked },
                 { "answered", s.answered },
                 { "failed", s.failed },
                 { "served", s.served },
                 { "upstream", s.upstream },
                 { "bad_messages", s.bad_messages },
                 { "refused_peers", s.refused_peers },
                 { "cache_entries", s.cache_entries } };
    }

private:
    std::shared_ptr<dns_pep_core> d_core;
    ticker::sptr d_ticker;
};

} // namespace

std::map<std::string, double> dns_pep::settings() { return all_settings().values({}); }
std::vector<setting_info> dns_pep::describe_settings()
{
    return all_settings().describe();
}

dns_pep::sptr dns_pep::make(const std::vector<std::string>& listen,
                            const std::vector<std::string>& routes,
                            const std::string& resolver,
                            const std::vector<std::string>& peers,
                            const std::vector<std::string>& local,
                            const std::vector<std::string>& blocked,
                            const std::map<std::string, double>& settings,
                            const std::string& netns,
                            bool real_time)
{
    std::vector<endpoint> where;
    for (const auto& text : listen)
        where.push_back(parse_dns_endpoint(text));
    dns::forwarder_config c;
    for (const auto& text : routes) {
        const auto [suffix, node] = parse_route(text);
        c.routes.push_back({ suffix, node });
    }
    c.serve = !resolver.empty();
    const endpoint upstream = c.serve ? parse_dns_endpoint(resolver) : endpoint();
    for (const auto& text : peers)
        c.peers.push_back(node_of(text));
    for (const auto& text : local)
        c.local.push_back(local_of(text));
    c.blocked.insert(c.blocked.end(), blocked.begin(), blocked.end());
    all_settings().apply(settings, c);
    c.validate();
    return gnuradio::make_block_sptr<dns_pep_impl>(where, upstream, c, netns, real_time);
}

} // namespace gr::hf
