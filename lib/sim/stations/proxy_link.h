/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node/node.h"
#include "sim/stations/tcp_host.h"

#include <functional>
#include <string>

namespace gr::hf::sim {

//! Octets that SIS should hold: 1.1 times a longest transmission at \p rate bit/s.
size_t depth_for(double rate);

/*! \brief Two stations with a proxy each, 1.1.0.0 and 1.2.0.0, over any link. Each
 *         proxies everything to the other.
 */
class proxy_link
{
public:
    //! Changes to the two configurations, made before anything is built.
    struct changes {
        std::function<void(s5066::node_config&)> node;
        std::function<void(hfpep::proxy_config&)> pep;
    };

    virtual ~proxy_link() = default;

    //! The sockets and applications of \p station, 0 or 1.
    virtual tcp_host& edge(size_t station) = 0;
    //! Call it after each call of an edge.
    virtual void drain() = 0;
    //! Runs until \p done, for at most \p seconds. \return the last answer of \p done
    virtual bool run_for(double seconds, const std::function<bool()>& done) = 0;
    virtual station_time now() const = 0;
    virtual const s5066::node& node(size_t station) const = 0;

    void run_for(double seconds)
    {
        run_for(
            seconds, [] { return false; });
    }

protected:
    //! Configuration of node 1.\p n.0.0.
    static s5066::node_config
    node_of(int n, const std::string& mode_text, uint64_t seed, const changes& c);
    //! Configuration of its proxy. \p instance distinguishes its starts, \p at is its
    //! node.
    static hfpep::proxy_config pep_of(int n,
                                      uint16_t instance,
                                      const std::string& mode_text,
                                      const s5066::node& at,
                                      const changes& c);
};

} // namespace gr::hf::sim
