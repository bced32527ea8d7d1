/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "edges/io_thread.h"
#include "edges/sis_dialer.h"

#include <gnuradio/io_signature.h>
#include <hf/sis_client.h>

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <stdexcept>

namespace gr::hf {
namespace {

using boost::system::error_code;

constexpr std::chrono::milliseconds tick{ 10 };

class sis_client_impl : public sis_client
{
public:
    sis_client_impl(const std::string& host, int port, const std::string& netns)
        : gr::block("hf_sis_client",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_sis(pmt::mp("sis")), d_io(netns), d_timer(d_io.context()),
          d_dialer(d_io.context(), host, port)
    {
        message_port_register_in(d_sis);
        message_port_register_out(d_sis);
        set_msg_handler(
            d_sis, [this](const pmt::pmt_t& m) { on_message(m); });
        d_dialer.on_primitive = [this](uint64_t id, const std::vector<uint8_t>& p) {
            publish(id, p);
        };
        d_dialer.on_trouble =
            [this, where = host + ":" + std::to_string(port)](const std::string& what) {
                d_logger->warn("SIS server {}: {}", where, what);
            };
    }

    ~sis_client_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] {
            d_begin = d_next = std::chrono::steady_clock::now();
            d_running = true;
            wait();
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] {
            d_running = false;
            d_timer.cancel();
            d_dialer.close();
        });
        return true;
    }

    std::map<std::string, uint64_t> stats() const override
    {
        const auto& count = d_dialer.count();
        return { { "connected", count.connected },
                 { "failed", count.failed },
                 { "lost", count.lost },
                 { "primitives_in", count.in },
                 { "primitives_out", count.out } };
    }

private:
    void wait()
    {
        d_next += tick;
        d_timer.expires_at(d_next);
        d_timer.async_wait([this](const error_code& error) {
            if (error || !d_running)
                return;
            message_port_pub(d_sis, pdu::builder("tick").set(keys::now(), now()).make());
            wait();
        });
    }

    station_time now() const { return std::chrono::steady_clock::now() - d_begin; }

    void publish(uint64_t id, const std::vector<uint8_t>& primitive)
    {
        message_port_pub(d_sis,
                         pdu::builder()
                             .set(keys::now(), now())
                             .set(keys::client(), id)
                             .make(primitive));
    }

    void on_message(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        const auto id = r.integer(keys::client());
        auto octets = r.octets();
        if (!id || (octets.empty() && r.type() != "client_gone"))
            return; // an answer to a tick, which is not needed
        d_io.post([this, id = *id, octets = std::move(octets)]() mutable {
            if (!d_running)
                return;
            if (octets.empty())
                d_dialer.forget(id);
            else
                d_dialer.from_client(id, std::move(octets));
        });
    }

    const pmt::pmt_t d_sis;
    io_thread d_io; // the members below live on it
    boost::asio::steady_timer d_timer;
    std::chrono::steady_clock::time_point d_begin, d_next;
    sis_dialer d_dialer;
    bool d_running = false;
};

} // namespace

sis_client::sptr
sis_client::make(const std::string& host, int port, const std::string& netns)
{
    if (host.empty() || host.size() > 253)
        throw std::invalid_argument(
            "host '" + host + "': allowed is a name or an address, 1 to 253 characters");
    if (port < 1 || port > 65535)
        throw std::invalid_argument("port " + std::to_string(port) +
                                    ": allowed are 1 to 65535");
    return gnuradio::make_block_sptr<sis_client_impl>(host, port, netns);
}

} // namespace gr::hf
