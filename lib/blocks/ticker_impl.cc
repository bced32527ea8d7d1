/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "edges/io_thread.h"

#include <gnuradio/io_signature.h>
#include <hf/ticker.h>

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <stdexcept>

namespace gr::hf {
namespace {

class ticker_impl : public ticker
{
public:
    explicit ticker_impl(int interval_ms)
        : gr::block("hf_ticker",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_port(pmt::mp("ticks")), d_interval(interval_ms), d_io(""),
          d_timer(d_io.context())
    {
        if (interval_ms < 1 || interval_ms > 1000)
            throw std::invalid_argument("ticker interval " + std::to_string(interval_ms) +
                                        " ms: allowed are 1 to 1000");
        message_port_register_out(d_port);
    }

    bool start() override
    {
        d_io.run_and_wait([this] {
            d_begin = std::chrono::steady_clock::now();
            d_next = d_begin;
            wait();
        });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] { d_timer.cancel(); });
        return true;
    }

private:
    void wait()
    {
        d_next += d_interval;
        d_timer.expires_at(d_next);
        d_timer.async_wait([this](const boost::system::error_code& error) {
            if (error)
                return;
            const station_time now = std::chrono::steady_clock::now() - d_begin;
            message_port_pub(d_port, pdu::builder("tick").set(keys::now(), now).make());
            wait();
        });
    }

    const pmt::pmt_t d_port;
    const std::chrono::milliseconds d_interval;
    std::chrono::steady_clock::time_point d_begin, d_next;
    io_thread d_io;
    boost::asio::steady_timer d_timer;
};

} // namespace

ticker::sptr ticker::make(int interval_ms)
{
    return gnuradio::make_block_sptr<ticker_impl>(interval_ms);
}

} // namespace gr::hf
