/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/hier_block2.h>
#include <hf/api.h>
#include <hf/setting_info.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief DNS-PEP: a caching DNS forwarder whose other half is across HF.
 *  \ingroup hf
 *
 * Near half: answers clients by UDP and TCP from its cache, or asks the far half, once for
 * each name however often the clients repeat. Far half: asks a resolver for its peers. A
 * station may be both. Message port \c sis (in and out) connects to hf.data_link.
 */
class HF_API dns_pep : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<dns_pep> sptr; //!< how flowgraphs hold it

    /*! \param listen addresses of this host for clients, each "ADDRESS[:PORT]", port 53
     *         unless said; whoever reaches them is answered
     *  \param routes which station knows names, each "SUFFIX=NODE", for example
     *         "example.org=1.2.0.2", ".=1.2.0.3"; the longest suffix wins
     *  \param resolver whom to ask for peers, "ADDRESS[:PORT]"; empty: peers are refused
     *  \param peers nodes that may ask; empty: every node
     *  \param local names answered here, each "NAME=ADDRESS"
     *  \param blocked names, with all below them, that do not exist, besides those that DNS
     *         cannot know (local, onion, reverse look-ups of private addresses, ...)
     *  \param settings further ones by name; see settings()
     *  \param netns network namespace of the sockets; empty: the present one
     *  \param real_time true if the data link is not driven by a modem of this flowgraph:
     *         time then comes from the host's clock
     *  \throws std::invalid_argument for a value that is not allowed, std::runtime_error if
     *          a socket cannot be opened
     */
    static sptr make(const std::vector<std::string>& listen,
                     const std::vector<std::string>& routes,
                     const std::string& resolver = "",
                     const std::vector<std::string>& peers = {},
                     const std::vector<std::string>& local = {},
                     const std::vector<std::string>& blocked = {},
                     const std::map<std::string, double>& settings = {},
                     const std::string& netns = "",
                     bool real_time = false);

    //! Names and default values of the further settings.
    static std::map<std::string, double> settings();
    //! The same with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
