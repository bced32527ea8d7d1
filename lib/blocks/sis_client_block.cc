/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/sis_client_block.h"

#include "blocks/pdu.h"

#include <hf/mode.h>

#include <algorithm>

namespace gr::hf {

sis_client_block::sis_client_block(const std::string& netns)
    : d_port(pmt::mp("sis")), d_log(pmt::mp("log")), d_client(keys::new_client_id()),
      d_io(netns)
{
    message_port_register_in(d_port);
    message_port_register_out(d_port);
    message_port_register_out(d_log);
    set_msg_handler(d_port, [this](const pmt::pmt_t& msg) { on_message(msg); });
}

bool sis_client_block::start()
{
    open_now();
    d_io.run_and_wait([this] {
        d_running = true;
        pump();
    });
    return true;
}

void sis_client_block::open_now()
{
    d_io.run_and_wait([this] {
        if (!d_open)
            open();
        d_open = true;
    });
}

void sis_client_block::close_now()
{
    d_io.run_and_wait([this] {
        d_running = false;
        if (d_open)
            close();
        d_open = false;
    });
}

bool sis_client_block::stop()
{
    close_now();
    return true;
}

void sis_client_block::on_message(const pmt::pmt_t& msg)
{
    const pdu::reader r(msg);
    const auto now = r.time(keys::now());
    if (!now) {
        d_logger->warn("sis port: expected a PDU with the key now, dropped");
        return;
    }
    auto octets = r.octets();
    if (!octets.empty() && r.integer(keys::client()) == d_client) {
        d_io.post([this, t = *now, octets = std::move(octets)] {
            if (!d_running)
                return;
            d_now = std::max(d_now, t);
            engine_sis_in(t, octets.data(), octets.size());
            pump();
        });
    }
    if (const auto text = r.symbol(keys::mode()); !text.empty() && text != d_mode) {
        d_mode = text;
        // A range of rates has no rate yet.
        if (text.rfind("auto", 0) != 0)
            d_io.post([this, rate_bps = mode::parse(text).rate_bps] {
                engine_link_rate(rate_bps);
            });
    }
    if (r.type() == "tick" && r.flag(keys::lock_step())) {
        d_lock_step = true;
        d_io.post([this, t = *now] {
            on_time(t);
            message_port_pub(
                d_port, pdu::builder("tick_done").set(keys::client(), d_client).make());
        });
    }
    // In lock step time must not overtake waiting messages, so only ticks carry it.
    if (!d_lock_step)
        d_io.post_time(*now, [this](station_time t) { on_time(t); });
}

void sis_client_block::on_time(station_time now)
{
    if (!d_running)
        return;
    d_now = std::max(d_now, now);
    engine_run_deadlines(now);
    pump();
}

void sis_client_block::log(const std::string& line)
{
    message_port_pub(d_log, pdu::line(d_now, line));
}

void sis_client_block::pump()
{
    // Before the flowgraph runs nothing receives the engine's output.
    if (d_running)
        engine_exchange();
}

void sis_client_block::send(const std::vector<uint8_t>& primitive)
{
    message_port_pub(d_port,
                     pdu::builder().set(keys::client(), d_client).make(primitive));
}

} // namespace gr::hf
