/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/ip_edge.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gr::hf {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds first_retry{ 1 }, next_retry{ 5 };

} // namespace

ip_edge::ip_edge(boost::asio::io_context& io,
                 ip::client& engine,
                 std::string device,
                 std::string address,
                 int mtu,
                 surroundings around)
    : d_engine(engine), d_device_name(std::move(device)), d_address(std::move(address)),
      d_mtu(mtu), d_around(std::move(around)), d_tun_events(io), d_link_events(io),
      d_retry(io)
{
}

void ip_edge::open()
{
    d_tun.emplace(d_device_name, d_address, d_mtu);
    d_tun_events.assign(d_tun->fd());
    d_link_events.assign(d_tun->link_fd());
    read();
    watch_link();
}

void ip_edge::close()
{
    d_lost = false;
    d_retry.cancel();
    close_device();
}

void ip_edge::close_device()
{
    if (!d_tun)
        return;
    for (auto* events : { &d_tun_events, &d_link_events }) {
        events->cancel();
        events->release();
    }
    d_tun.reset();
}

bool ip_edge::drain()
{
    bool any = false;
    while (const auto packet = d_engine.poll_packet()) {
        any = true;
        // If the device is full the packet is dropped, as at any router.
        if (d_tun) {
            [[maybe_unused]] const ssize_t written =
                ::write(d_tun->fd(), packet->data(), packet->size());
        }
    }
    return any;
}

// The device was deleted by another program. From now on its descriptor is always
// readable, and reading fails.
void ip_edge::lost(int why)
{
    close_device();
    d_lost = true;
    d_around.tell("TUN device '" + d_device_name + "' is gone (" + std::strerror(why) +
                  "): no IP packets until it can be made again");
    make_again(first_retry, true);
}

void ip_edge::make_again(std::chrono::seconds after, bool say_why_not)
{
    d_retry.expires_after(after);
    d_retry.async_wait([this, say_why_not](const error_code& error) {
        if (error || !d_lost)
            return;
        try {
            open();
            d_lost = false;
            d_around.tell("TUN device '" + d_device_name + "' is made again");
        } catch (const std::runtime_error& refused) {
            close_device();
            if (say_why_not)
                d_around.tell(refused.what());
            make_again(next_retry, false);
        }
    });
}

void ip_edge::read()
{
    d_tun_events.async_wait(
        stream_descriptor::wait_read,
        [this](const error_code& error) {
            if (error || !d_tun)
                return;
            const int failed = read_packets();
            d_around.pump();
            if (failed != 0)
                lost(failed);
            else
                read();
        });
}

void ip_edge::watch_link()
{
    d_link_events.async_wait(
        stream_descriptor::wait_read,
        [this](const error_code& error) {
            if (error || !d_tun)
                return;
            d_tun->on_link_event();
            watch_link();
        });
}

// Returns 0, or why the device cannot be read any more.
int ip_edge::read_packets()
{
    // After some packets let others run. The kernel queues the rest.
    for (int k = 0; k < 64; ++k) {
        const ssize_t n = ::read(d_tun->fd(), d_packet.data(), d_packet.size());
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return errno;
        if (n <= 0)
            return 0;
        d_engine.on_packet(d_around.clock(), d_packet.data(), static_cast<size_t>(n));
    }
    return 0;
}

} // namespace gr::hf
