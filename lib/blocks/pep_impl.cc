/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/engine_block.h"
#include "blocks/routes.h"
#include "blocks/settings.h"
#include "edges/tcp_edge.h"
#include "pep/proxy.h"
#include "pep/rules.h"

#include <gnuradio/io_signature.h>
#include <hf/pep.h>

#include <mutex>
#include <optional>
#include <random>

namespace gr::hf {
namespace {

//! Engine and sockets. Lives on the io_thread.
class pep_core : public engine_block<hfpep::proxy>
{
public:
    pep_core(const std::vector<tcp_listener>& listeners,
             const hfpep::proxy_config& config,
             const std::string& netns,
             std::shared_ptr<tls::authority> ca)
        : gr::block("hf_pep_core",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          engine_block(netns, config), d_listeners(listeners),
          d_with_default_rules(config.with_default_rules), d_apart(apart(config.rules)),
          d_edge(
              io().context(),
              engine(),
              [this] { return now(); },
              [this] { pump(); },
              std::move(ca))
    {
        open_now();
    }
    ~pep_core() override { close_now(); }

    hfpep::proxy_stats stats() const
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        return d_stats;
    }
    uint64_t accept_errors() const
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        return d_accept_errors;
    }
    const std::vector<uint16_t>& ports() const { return d_ports; }
    void set_rules(const std::vector<std::string>& words)
    {
        hfpep::proxy_config checked;
        checked.rules = hfpep::rules_from(words, d_with_default_rules);
        checked.validate();
        if (const auto names = apart(checked.rules); names && names != d_apart)
            throw std::invalid_argument(
                "rule word 'tls=apart': the certificate authority "
                "is for the names of the first rules");
        io().post([this, rules = std::move(checked.rules)]() mutable {
            engine().set_rules(std::move(rules));
            pump();
        });
    }
    std::vector<pep_connection> connections() const
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        return d_shown;
    }

protected:
    bool engine_drain() override
    {
        const bool any = d_edge.drain();
        while (const auto line = engine().poll_log())
            log(*line);
        show();
        return any;
    }

    void engine_link_rate(double bits_per_second) override
    {
        engine().set_link_rate(bits_per_second);
    }

    void open() override
    {
        for (const auto& l : d_listeners)
            d_edge.listen(l);
        d_ports = d_edge.ports();
    }
    void close() override { d_edge.close(); }

private:
    // Names of the rules with TLS apart. No value: there is no such rule.
    static std::optional<std::vector<std::string>>
    apart(const std::vector<hfpep::rule>& rules)
    {
        if (std::none_of(
                rules.begin(), rules.end(), [](const auto& r) { return r.tls_apart; }))
            return {};
        return hfpep::apart_names(rules);
    }

    // Snapshot for displays, at most every 100 ms of station time, since the list may be
    // long.
    void show()
    {
        std::lock_guard<std::mutex> lock(d_shown_mutex);
        d_stats = engine().stats();
        d_accept_errors = d_edge.accept_errors();
        if (now() < d_show_at)
            return;
        d_show_at = now() + std::chrono::milliseconds(100);
        d_shown.clear();
        for (const auto& c : engine().connections())
            d_shown.push_back(
                { c.local, c.to.to_string(), c.state, c.octets_out, c.octets_in });
    }

    const std::vector<tcp_listener> d_listeners;
    const bool d_with_default_rules;
    const std::optional<std::vector<std::string>> d_apart;
    tcp_edge d_edge;
    std::vector<uint16_t> d_ports; // set before the constructor returns
    mutable std::mutex d_shown_mutex;
    hfpep::proxy_stats d_stats;
    uint64_t d_accept_errors = 0;
    std::vector<pep_connection> d_shown;
    station_time d_show_at{};
};

const setting_table<hfpep::proxy_config>& all_settings()
{
    using config = hfpep::proxy_config;
    using table = setting_table<config>;
    static const table all(
        "HF-PEP",
        { { "opens_per_s",
            table::number(
                [](config & c) -> auto& { return c.opens.per_second; },
                1e6,
                "1/s",
                "limit of new connections with all peers together, in each direction",
                0.01) },
          { "opens_per_s_peer",
            table::number(
                [](config & c) -> auto& { return c.opens.per_second_peer; },
                1e6,
                "1/s",
                "limit of new connections with one peer, in each direction",
                0.01) },
          { "opens_burst",
            table::number(
                [](config & c) -> auto& { return c.opens.burst; },
                1e5,
                "",
                "connections that may be opened in one burst after a pause",
                1) },
          { "default_rules",
            table::number(
                [](config & c) -> auto& { return c.with_default_rules; },
                1,
                "",
                "1: the default rules follow the rules of the station file") },
          { "connections_per_peer",
            table::number(
                [](config & c) -> auto& { return c.opens.standing_peer; },
                4096,
                "",
                "limit of connections with one peer, both directions together",
                1) },
          { "send_buffer_octets",
            table::number(
                [](config & c) -> auto& { return c.slep.send_buffer; },
                1 << 26,
                "octets",
                "octets of a connection that may wait for HF; beyond that the "
                "application must wait",
                2048) },
          { "unread_octets",
            table::number(
                [](config & c) -> auto& { return c.slep.buffer_high; },
                1 << 26,
                "octets",
                "octets of a connection that the local application has not read; beyond "
                "that the far side stops",
                2048) } });
    return all;
}

hfpep::proxy_config make_config(const std::vector<std::string>& routes,
                                size_t queue_octets,
                                size_t segment_octets,
                                size_t max_connections,
                                const std::vector<std::string>& allow,
                                const std::vector<std::string>& rules,
                                const std::map<std::string, double>& settings)
{
    hfpep::proxy_config c;
    for (const auto& text : allow)
        c.allow.push_back(hfpep::reach::parse(text));
    for (const auto& text : routes) {
        const auto [what, node] = parse_route(text);
        hfpep::stream_route r;
        r.node = node;
        if (what.find('/') != std::string::npos || ip::address::parse(what))
            r.prefix = ip::prefix(what);
        else
            r.name_suffix = what;
        c.routes.push_back(r);
    }
    c.slep.queue_octets = queue_octets;
    c.slep.segment_octets = segment_octets;
    c.max_connections = max_connections;
    c.slep.streams_max = max_connections;
    all_settings().apply(settings, c);
    c.slep.buffer_low = c.slep.buffer_high / 4;
    c.rules = hfpep::rules_from(rules, c.with_default_rules);
    // The one value that must differ between two runs. It signals a restart to the peers.
    c.slep.instance = static_cast<uint16_t>(std::random_device()() | 1);
    c.validate();
    return c;
}

std::shared_ptr<tls::authority> authority_for(const hfpep::proxy_config& c,
                                              const std::string& folder)
{
    const bool wanted = std::any_of(
        c.rules.begin(), c.rules.end(), [](const auto& r) { return r.tls_apart; });
    if (wanted && folder.empty())
        throw std::invalid_argument("rule word 'tls=apart': needs ca, the folder of the "
                                    "certificate authority");
    if (!wanted)
        return nullptr;
    const auto names = hfpep::apart_names(c.rules);
    auto ca = std::make_shared<tls::authority>(folder, names);
    if (ca->names() != names)
        throw std::runtime_error(
            "certificate authority " + ca->path() +
            ": is not for the names of the rules; hf pep ca --rotate "
            "with the station file makes one that is");
    return ca;
}

class pep_impl : public pep
{
public:
    pep_impl(const std::vector<tcp_listener>& listeners,
             const hfpep::proxy_config& config,
             const std::string& netns,
             bool real_time,
             const std::string& ca)
        : gr::hier_block2("hf_pep",
                          gr::io_signature::make(0, 0, 0),
                          gr::io_signature::make(0, 0, 0)),
          d_core(gnuradio::make_block_sptr<pep_core>(listeners,
                                                     config,
                                                     netns,
                                                     authority_for(config, ca)))
    {
        d_ticker = put_inside(*this, d_core, real_time);
    }

    std::map<std::string, uint64_t> stats() const override
    {
        const auto s = d_core->stats();
        return { { "accepted", s.accepted },
                 { "requested", s.requested },
                 { "connected", s.connected },
                 { "failed", s.failed },
                 { "rejected", s.rejected },
                 { "over_connections", s.over_connections },
                 { "displaced", s.displaced },
                 { "over_peer", s.over_peer },
                 { "over_rate", s.over_rate },
                 { "closed", s.closed },
                 { "reset", s.reset },
                 { "bad_requests", s.bad_requests },
                 { "accept_errors", d_core->accept_errors() },
                 { "octets_out", s.octets_out },
                 { "octets_in", s.octets_in } };
    }
    std::vector<uint16_t> ports() const override { return d_core->ports(); }
    std::vector<pep_connection> connections() const override
    {
        return d_core->connections();
    }
    void set_rules(const std::vector<std::string>& rules) override
    {
        d_core->set_rules(rules);
    }

private:
    std::shared_ptr<pep_core> d_core;
    ticker::sptr d_ticker;
};

} // namespace

std::map<std::string, double> pep::settings() { return all_settings().values({}); }
std::vector<setting_info> pep::describe_settings() { return all_settings().describe(); }

pep::sptr pep::make(const std::vector<std::string>& listeners,
                    const std::vector<std::string>& routes,
                    size_t queue_octets,
                    size_t segment_octets,
                    size_t max_connections,
                    const std::string& netns,
                    bool real_time,
                    const std::vector<std::string>& allow,
                    const std::vector<std::string>& rules,
                    const std::map<std::string, double>& settings,
                    const std::string& ca)
{
    std::vector<tcp_listener> parsed;
    for (const auto& text : listeners)
        parsed.push_back(tcp_listener::parse(text));
    return gnuradio::make_block_sptr<pep_impl>(parsed,
                                               make_config(routes,
                                                           queue_octets,
                                                           segment_octets,
                                                           max_connections,
                                                           allow,
                                                           rules,
                                                           settings),
                                               netns,
                                               real_time,
                                               ca);
}

} // namespace gr::hf
