/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/ip_hosts.h"

#include "ip/packet.h"
#include "sim/stations/pep_station.h"

#include <hf/mode.h>

#include <algorithm>

namespace gr::hf::sim {
namespace {

void put16(octets& v, size_t at, unsigned x)
{
    v[at] = static_cast<uint8_t>(x >> 8);
    v[at + 1] = static_cast<uint8_t>(x);
}

s5066::node_config
node_config(int n, const std::string& mode, const std::string& ack_mode, uint64_t seed)
{
    s5066::node_config c;
    c.own = s5066::address("1." + std::to_string(n) + ".0.0");
    c.mode = mode;
    c.ack_mode = ack_mode;
    c.seed = 100 * seed + static_cast<uint64_t>(n);
    return c;
}

ip::client_config with_pings(ip::client_config c, bool arq)
{
    if (!arq)
        c.filter.insert(c.filter.begin(),
                        ip::parse_filter_rule("proto=icmp action=send mode=non-arq "
                                              "class=interactive"));
    return c;
}

} // namespace

ip::client_config
ip_config(int n, const std::string& mode_text, const ip::queue_config& queue)
{
    ip::client_config c;
    const std::string other = std::to_string(3 - n);
    c.table = { { ip::prefix("10.66.0." + other),
                  s5066::address("1." + other + ".0.0") } };
    c.own = { ip::address("10.66.0." + std::to_string(n)) };
    c.rate = mode::parse(mode_text).rate_bps;
    c.queue_octets = std::max<size_t>(depth_for(c.rate), 2048);
    c.queue = queue;
    return c;
}

octets echo_request(const ip::address& from, const ip::address& to, size_t size, int k)
{
    octets v(size);
    v[0] = 0x45;
    put16(v, 2, static_cast<unsigned>(size));
    put16(v, 4, static_cast<unsigned>(k + 1));
    v[8] = 64;
    v[9] = ip::proto_icmp;
    std::copy_n(from.data(), 4, v.begin() + 12);
    std::copy_n(to.data(), 4, v.begin() + 16);
    put16(v, 10, ip::checksum_fold(ip::checksum_add(0, v.data(), 20)));
    v[20] = 8;
    put16(v, 24, 0x4846);
    put16(v, 26, static_cast<unsigned>(k));
    put16(v, 22, ip::checksum_fold(ip::checksum_add(0, v.data() + 20, size - 20)));
    return v;
}

octets echo_reply(octets v)
{
    const auto p = ip::read_packet(v.data(), v.size());
    if (!p || p->icmp_type != 8)
        return {};
    std::swap_ranges(v.begin() + 12, v.begin() + 16, v.begin() + 16);
    v[20] = 0;
    put16(v, 22, 0);
    put16(v, 22, ip::checksum_fold(ip::checksum_add(0, v.data() + 20, v.size() - 20)));
    return v;
}

ip_hosts::ip_hosts(const std::string& mode,
                   const std::string& ack_mode,
                   const air_path& on_path,
                   uint64_t seed,
                   const ip::queue_config& queue,
                   bool ping_arq)
    : air(s, seed), station_a(s, air, node_config(1, mode, ack_mode, seed)),
      station_b(s, air, node_config(2, mode, ack_mode, seed)),
      a(s, station_a, with_pings(ip_config(1, mode, queue), ping_arq)),
      b(s, station_b, with_pings(ip_config(2, mode, queue), ping_arq))
{
    air.set_default_path(on_path);
    s.run_until(std::chrono::milliseconds(1));
}

void ip_hosts::send(ip_on_station& from, const octets& packet)
{
    from.engine().on_packet(s.now(), packet.data(), packet.size());
    from.drain();
}

void ip_hosts::to_host(ip_on_station& c, std::function<void(octets)> f)
{
    c.edge = [&c, f = std::move(f)] {
        bool any = false;
        while (auto v = c.engine().poll_packet()) {
            any = true;
            f(std::move(*v));
        }
        return any;
    };
}

} // namespace gr::hf::sim
