/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/interactive.h"

#include "sim/stations/ip_hosts.h"
#include "sim/stations/pep_station.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>

namespace gr::hf::sim {
namespace {

constexpr const char* server_address = "10.0.0.1";
constexpr uint16_t shell_port = 22;
constexpr size_t request_octets = 200, key_octets = 36, greeting_octets = 40;
constexpr size_t ping_octets = 84;

//! One run with all actions of the user.
class trial
{
public:
    explicit trial(const interactive_load& l)
        : d_load(l), d_random(l.seed), d_pair(l.mode, l.on_path, l.seed, changes(l)),
          d_ip_a(d_pair.s, d_pair.a, ip_config(1, l.mode, {})),
          d_ip_b(d_pair.s, d_pair.b, ip_config(2, l.mode, {}))
    {
        d_pair.pb.edge().on_server = [this](tcp_host::socket& s) { serve(s); };
        d_ip_a.edge = [this] { return from_hf(d_ip_a, false); };
        d_ip_b.edge = [this] { return from_hf(d_ip_b, true); };
    }

    interactive_result run()
    {
        begin_bulk();
        if (d_load.second_after_s > 0)
            after(d_load.second_after_s, [this] { begin_bulk(); });
        if (d_load.page_after_s > 0)
            after(d_load.page_after_s, [this] { begin_page(); });
        if (d_load.key_every_s > 0)
            begin_shell();
        if (d_load.ping_every_s > 0)
            after(d_load.ping_every_s, [this] { ping(1); });
        const size_t bulks = d_load.second_after_s > 0 ? 2 : 1;
        d_result.complete = d_pair.run_for(d_load.limit_s, [this, bulks] {
            look();
            return d_done == bulks;
        }) && d_unaltered;
        d_result.transmissions = d_pair.air.transmissions();
        return std::move(d_result);
    }

private:
    struct bulk {
        octets content;
        station_time begin{};
        hfpep::connection_id client = 0;
        bool done = false;
    };

    static proxy_pair::changes changes(const interactive_load& l)
    {
        proxy_pair::changes c;
        c.node = [&l](s5066::node_config& n) { s5066::apply(l.settings, n); };
        return c;
    }
    octets noise(size_t n)
    {
        octets v(n);
        std::generate(v.begin(), v.end(), [this] { return uint8_t(d_random()); });
        return v;
    }
    void after(double s, std::function<void()> f)
    {
        d_pair.s.at(d_pair.s.now() + from_seconds(s), std::move(f));
    }
    tcp_host& user() { return d_pair.pa.edge(); }
    tcp_host& servers() { return d_pair.pb.edge(); }
    hfpep::connection_id connect(uint16_t port, octets request)
    {
        const auto id = user().accept(d_pair.s.now(), server_address, port);
        user().sockets[id].to_send = std::move(request);
        d_pair.pa.drain();
        return id;
    }

    void begin_bulk()
    {
        auto b = std::make_unique<bulk>();
        b->content = noise(d_load.bulk_octets);
        b->begin = d_pair.s.now();
        const size_t index = d_bulks.size();
        d_bulks.push_back(std::move(b));
        d_result.bulk_s.push_back(-1);
        // The port identifies it to the server.
        d_bulks.back()->client =
            connect(static_cast<uint16_t>(d_load.bulk_port + index),
                    d_load.upload ? d_bulks.back()->content : noise(request_octets));
    }
    void begin_page()
    {
        d_page = connect(d_load.page_port, noise(request_octets));
        d_page_at = d_pair.s.now();
    }
    void begin_shell()
    {
        d_shell = connect(shell_port, noise(greeting_octets));
        d_shell_at = d_pair.s.now();
    }
    void serve(tcp_host::socket& s)
    {
        s.eof_after_eof = true;
        if (s.to.port == shell_port) {
            s.to_send = noise(greeting_octets);
        } else if (s.to.port == d_load.page_port) {
            s.reply_after = request_octets;
            s.reply = noise(d_load.page_octets);
        } else if (!d_load.upload) {
            s.reply_after = request_octets;
            s.reply = d_bulks.at(s.to.port - d_load.bulk_port)->content;
        }
    }

    void ping(int k)
    {
        d_pings[k] = d_pair.s.now();
        const octets v = echo_request(
            ip::address("10.66.0.1"), ip::address("10.66.0.2"), ping_octets, k);
        d_ip_a.engine().on_packet(d_pair.s.now(), v.data(), v.size());
        d_ip_a.drain();
        after(d_load.ping_every_s, [this, k] { ping(k + 1); });
    }
    bool from_hf(ip_on_station& c, bool at_server)
    {
        bool any = false;
        while (auto v = c.engine().poll_packet()) {
            any = true;
            if (at_server) {
                // Not from inside the poll of the same engine.
                after(0, [&c, this, reply = echo_reply(std::move(*v))] {
                    c.engine().on_packet(d_pair.s.now(), reply.data(), reply.size());
                    c.drain();
                });
                continue;
            }
            const auto it = d_pings.find((*v)[26] << 8 | (*v)[27]);
            if (it == d_pings.end())
                continue;
            d_result.ping_s.push_back(to_seconds(d_pair.s.now() - it->second));
            d_pings.erase(it);
        }
        return any;
    }

    //! After every event: checks what has arrived, and lets the programs react.
    void look()
    {
        const station_time now = d_pair.s.now();
        for (size_t k = 0; k < d_bulks.size(); ++k)
            look_at_bulk(now, k);
        if (d_page) {
            auto& s = user().sockets[*d_page];
            if (s.got.size() >= d_load.page_octets) {
                d_result.page_s.push_back(to_seconds(now - d_page_at));
                s.then_eof = true;
                d_page.reset();
                after(d_load.page_every_s, [this] { begin_page(); });
                d_pair.pa.drain();
            }
        }
        if (d_shell)
            look_at_shell(now);
    }
    void look_at_bulk(station_time now, size_t k)
    {
        bulk& b = *d_bulks[k];
        if (b.done)
            return;
        const octets* got = nullptr;
        if (!d_load.upload)
            got = &user().sockets[b.client].got;
        for (const auto id : servers().connects)
            if (d_load.upload && servers().sockets[id].to.port == d_load.bulk_port + k)
                got = &servers().sockets[id].got;
        if (got == nullptr || got->size() < b.content.size())
            return;
        b.done = true;
        ++d_done;
        d_unaltered = d_unaltered && *got == b.content;
        d_result.bulk_s[k] = to_seconds(now - b.begin);
        user().sockets[b.client].then_eof = true;
    }
    void look_at_shell(station_time now)
    {
        auto& client = user().sockets[*d_shell];
        for (const auto id : servers().connects) {
            auto& s = servers().sockets[id];
            if (s.to.port != shell_port || s.got.size() < greeting_octets)
                continue;
            // Each key is answered.
            const size_t wanted = s.got.size() - greeting_octets + greeting_octets;
            if (s.to_send.size() < wanted) {
                const octets more = noise(wanted - s.to_send.size());
                s.to_send.insert(s.to_send.end(), more.begin(), more.end());
                after(0, [this] { d_pair.pb.drain(); });
            }
        }
        if (!d_greeted) {
            if (client.got.size() < greeting_octets)
                return;
            d_greeted = true;
            const double banner_s = to_seconds(now - d_shell_at);
            if (d_result.banner_s < 0)
                d_result.banner_s = banner_s;
            d_result.banners_s.push_back(banner_s);
            after(d_load.key_every_s, [this] { key(); });
            return;
        }
        if (d_key_at && client.got.size() >= client.to_send.size()) {
            d_result.key_s.push_back(to_seconds(now - *d_key_at));
            d_key_at.reset();
            const size_t keys = d_result.key_s.size();
            const bool other = d_load.keys_each > 0 && keys % d_load.keys_each == 0;
            after(d_load.key_every_s, [this, other] { other ? next_shell() : key(); });
        }
    }
    void next_shell()
    {
        user().sockets[*d_shell].then_eof = true;
        begin_shell();
        d_greeted = false;
    }
    void key()
    {
        auto& client = user().sockets[*d_shell];
        const octets more = noise(key_octets);
        client.to_send.insert(client.to_send.end(), more.begin(), more.end());
        d_key_at = d_pair.s.now();
        d_pair.pa.drain();
    }

    const interactive_load& d_load;
    std::mt19937 d_random;
    proxy_pair d_pair;
    ip_on_station d_ip_a, d_ip_b;
    interactive_result d_result;
    std::vector<std::unique_ptr<bulk>> d_bulks;
    size_t d_done = 0;
    bool d_unaltered = true;
    std::optional<hfpep::connection_id> d_page, d_shell;
    station_time d_page_at{}, d_shell_at{};
    bool d_greeted = false;
    std::optional<station_time> d_key_at;
    std::map<int, station_time> d_pings;
};

} // namespace

interactive_result measure(const interactive_load& l) { return trial(l).run(); }

} // namespace gr::hf::sim
