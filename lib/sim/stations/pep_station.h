/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/client_on_station.h"
#include "sim/stations/proxy_link.h"

namespace gr::hf::sim {

//! A proxy with its applications on a station of the event simulator.
class proxy_on_station : public client_on_station<tcp_host>
{
public:
    proxy_on_station(scheduler& s, station& at, const hfpep::proxy_config& c);

    //! The node has restarted. Attach and bind again.
    void reattach();
    //! Its sockets are lost by a restart().
    tcp_host& edge() { return engine(); }
};

//! The proxies on emulated modems, in virtual time.
struct proxy_pair : proxy_link {
    /*! \param mode_text mode of data, both directions
     *  \throws std::invalid_argument as the configurations
     */
    explicit proxy_pair(const std::string& mode_text,
                        const air_path& p = {},
                        uint64_t seed = 1,
                        const changes& change = {});

    //! Configuration of the proxy of node 1.\p n.0.0. \p instance distinguishes its
    //! starts.
    hfpep::proxy_config pep_config(int n, uint16_t instance) const;

    tcp_host& edge(size_t station) override { return (station == 0 ? pa : pb).edge(); }
    void drain() override;
    bool run_for(double seconds, const std::function<bool()>& done) override;
    station_time now() const override { return s.now(); }
    const s5066::node& node(size_t station) const override
    {
        return (station == 0 ? a : b).node();
    }

    const std::string mode_name;
    const changes change;
    scheduler s;
    emulated_air air;
    station a, b;
    proxy_on_station pa, pb;
};

} // namespace gr::hf::sim
