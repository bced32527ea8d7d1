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

/*! \brief DNS-PEP: a caching DNS forwarder in two halves, one at each end of the HF link.
 *  \ingroup hf
 *
 * The near half answers clients by UDP and TCP from its cache, or asks the far half. It
 * asks once for each name, however often clients repeat the question. The far half asks a
 * resolver on behalf of its peers. A station may be both. Message port \c sis (in and
 * out) connects to hf.data_link.
 */
class HF_API dns_pep : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<dns_pep> sptr; //!< pointer type for flowgraphs

    /*! \param listen addresses of this host for clients, each "ADDRESS[:PORT]", port 53
     *         by default. Any host that reaches them is answered
     *  \param routes which station resolves which names, each "SUFFIX=NODE", for example
     *         "example.org=1.2.0.2", ".=1.2.0.3"; the longest suffix wins
     *  \param resolver resolver for the questions of peers, "ADDRESS[:PORT]"; empty:
     *         peers are refused
     *  \param peers nodes that may ask; empty: every node
     *  \param local names answered here, each "NAME=ADDRESS"
     *  \param blocked names that are answered as nonexistent, with all names below them.
     *         Names that DNS cannot know (local, onion, reverse look-ups of private
     *         addresses, ...) always are
     *  \param settings further settings by name; see settings()
     *  \param netns network namespace of the sockets; empty: the current one
     *  \param real_time true if the data link is not driven by a modem of this flowgraph:
     *         time then comes from the host's clock
     *  \throws std::invalid_argument for a value that is not allowed, std::runtime_error
     *         if a socket cannot be opened
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
    //! Further settings with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
};

} // namespace gr::hf
