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

//! Packets of one flow that wait for the data link, for displays.
struct ip_flow {
    std::string node;     //!< next hop
    std::string protocol; //!< "TCP", "UDP", "ICMP", "ICMPv6" or a number; "several" if
                          //!< many flows share a queue
    std::string src;      //!< source address, and port where the protocol has one
    std::string dst;      //!< destination, the same way
    bool interactive = false; //!< in the class that is served first
    uint64_t packets = 0;     //!< packets that wait
    uint64_t octets = 0;      //!< octets of these packets
    double oldest_s = 0;      //!< age of the oldest packet
};

/*! \brief IP client of STANAG 5066 Annex F.12 on its own TUN device.
 *  \ingroup hf
 *
 * The constructor makes the device, so that a missing right is reported at once. The
 * device is removed when the flowgraph stops. Packets that the kernel routes to the
 * device go one by one to the node that the address table names. Message port \c sis (in
 * and out) connects to hf.data_link.
 */
class HF_API ip_client : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<ip_client> sptr; //!< pointer type for flowgraphs

    /*! \param device name of the TUN device, 1 to 15 characters
     *  \param address IPv4 or IPv6 address with prefix length, or one of each, for
     *         example "10.66.0.1/24, fd66::1/64"
     *  \param table next hops, each "PREFIX=NODE", for example "10.66.0.2/32=1.2.0.2"
     *  \param mtu MTU of the device, 576 to 2048 octets
     *  \param queue_octets unconfirmed octets held in SIS for one node, 2048 to 2^26;
     *         choose about one longest transmission
     *  \param netns network namespace of the device; empty: the current one
     *  \param real_time true if the data link is not driven by a modem of this flowgraph:
     *         time then comes from the host's clock
     *  \param filter words of rules (lib/ip/classifier.h, parse_filter_rule) that come
     *         before the default list, which keeps the chatter of a fresh Linux off the
     *         air; the first match counts
     *  \param queue how packets wait when there are more than the link carries: "fair" (a
     *         queue for each flow) or "whole" (one queue, dropped as a whole)
     *  \param settings further settings by name; see settings()
     *  \throws std::invalid_argument for a value that is not allowed, std::runtime_error
     *         if the device cannot be made
     */
    static sptr make(const std::string& device,
                     const std::string& address,
                     const std::vector<std::string>& table,
                     int mtu = 1500,
                     size_t queue_octets = 168000,
                     const std::string& netns = "",
                     bool real_time = false,
                     const std::vector<std::string>& filter = {},
                     const std::string& queue = "fair",
                     const std::map<std::string, double>& settings = {});

    //! Names and default values of the further settings.
    static std::map<std::string, double> settings();
    //! Further settings with meanings, units and ranges.
    static std::vector<setting_info> describe_settings();

    //! Counters by name.
    virtual std::map<std::string, uint64_t> stats() const = 0;
    //! The flows with the most octets waiting for the data link, at most 100, the longest
    //! first.
    virtual std::vector<ip_flow> flows() const = 0;
};

} // namespace gr::hf
