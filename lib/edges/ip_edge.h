/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/tun_device.h"
#include "ip/client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace gr::hf {

/*! \brief The TUN device of the IP client: its packets go to the engine, and the engine's
 *         packets for the host go to it. Everything runs on the thread of the io_context.
 *
 * If the device is deleted by another program, it is made again after 1 s, then every 5
 * s.
 */
class ip_edge
{
public:
    //! Callbacks of the owner.
    struct surroundings {
        std::function<station_time()> clock;          //!< station time
        std::function<void()> pump;                   //!< called after each event for the
                                                      //!< engine
        std::function<void(const std::string&)> tell; //!< a line for the operator
    };

    //! \param device, address, mtu as tun_device
    ip_edge(boost::asio::io_context& io,
            ip::client& engine,
            std::string device,
            std::string address,
            int mtu,
            surroundings around);

    //! Make the device. \throws what tun_device throws
    void open();
    //! Remove the device.
    void close();
    //! Do what the engine wants. False if it wanted nothing.
    bool drain();

private:
    void close_device();
    void lost(int why);
    void make_again(std::chrono::seconds after, bool say_why_not);
    void read();
    void watch_link();
    int read_packets();

    ip::client& d_engine;
    const std::string d_device_name, d_address;
    const int d_mtu;
    const surroundings d_around;
    std::optional<tun_device> d_tun;
    boost::asio::posix::stream_descriptor d_tun_events, d_link_events;
    boost::asio::steady_timer d_retry;
    bool d_lost = false;
    std::array<uint8_t, 4096> d_packet;
};

} // namespace gr::hf
