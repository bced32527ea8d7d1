/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf {

/*! \brief Let the device with this index receive packets whose IPv4 source is an address
 *         of this host, as /proc/sys/net/ipv4/conf/DEVICE/accept_local = 1.
 *
 * Without it the kernel drops the ICMP errors of the IP client as martians, because their
 * source is the host's own address. Uses rtnetlink, since containers mount /proc/sys
 * read-only. Needs CAP_NET_ADMIN. \return false: refused, errno says why
 */
bool accept_own_sources(int interface_index);

/*! \brief Reports of the kernel about one network device, by rtnetlink.
 *
 * Must be made on a thread that is in the network namespace of the device.
 */
class link_watch
{
public:
    //! \throws std::runtime_error if the system refuses
    explicit link_watch(int interface_index);
    ~link_watch();
    link_watch(const link_watch&) = delete;
    link_watch& operator=(const link_watch&) = delete;

    //! Non-blocking descriptor. When it is readable, call came_up().
    int fd() const { return d_fd; }
    //! Reads all pending reports. True: the device was down and is up now.
    bool came_up();

private:
    int d_index;
    int d_fd = -1;
    bool d_up = true;
};

} // namespace gr::hf
