/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/traffic.h"

#include <cstdio>
#include <string>

namespace gr::hf::sim {

//! Configuration of station \p n: address 1.\p n.0.0.
inline s5066::node_config test_config(int n, const std::string& mode)
{
    s5066::node_config c;
    c.own = s5066::address("1." + std::to_string(n) + ".0.0");
    c.mode = mode;
    c.seed = static_cast<uint64_t>(100 + n);
    return c;
}

//! Two stations on one channel, each with a source and a sink on SAP 3.
struct two_stations {
    explicit two_stations(const std::string& mode,
                          const air_path& p = air_path(),
                          uint64_t seed = 1,
                          s5066::delivery_mode service = s5066::delivery_mode())
        : two_stations(test_config(1, mode), test_config(2, mode), p, seed, service)
    {
    }

    two_stations(const s5066::node_config& ca,
                 const s5066::node_config& cb,
                 const air_path& p = air_path(),
                 uint64_t seed = 1,
                 s5066::delivery_mode service = s5066::delivery_mode())
        : air(s, seed), a(s, air, ca), b(s, air, cb), source_a(s, a, 3, service),
          source_b(s, b, 4, service), sink_a(s, a, 4), sink_b(s, b, 3)
    {
        // One SAP each way: source of a and sink of b share number 3.
        air.set_default_path(p);
        s.run_until(std::chrono::milliseconds(1));
    }

    //! Prints the log of both stations, for looking into a failure.
    void print_trace()
    {
        for (station* st : { &a, &b }) {
            st->node().set_trace(true);
            st->on_trace = [st](const s5066::log_record& l) {
                std::printf("%10.3f %s  %s\n",
                            to_seconds(l.time),
                            st->address().to_string().c_str(),
                            l.text.c_str());
            };
        }
    }

    //! Sends from a to b. \return user bit/s from the first request to the last U_PDU
    double goodput(size_t octets, size_t size, double limit_s)
    {
        const uint64_t before = sink_b.octets();
        source_a.send(b.address(), octets, size);
        const station_time begin = source_a.began();
        s.run_until([&] { return sink_b.octets() >= before + octets; },
                    begin + from_seconds(limit_s));
        return 8.0 * static_cast<double>(sink_b.octets() - before) /
               to_seconds(sink_b.last() - begin);
    }

    scheduler s;
    emulated_air air;
    station a;
    station b;
    bulk_source source_a;
    bulk_source source_b;
    bulk_sink sink_a;
    bulk_sink sink_b;
};

} // namespace gr::hf::sim
