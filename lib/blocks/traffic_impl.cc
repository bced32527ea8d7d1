/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/sis_client_block.h"
#include "sim/stations/traffic_client.h"
#include "slep/client_driver.h"

#include <gnuradio/io_signature.h>
#include <hf/traffic.h>

#include <mutex>

namespace gr::hf {
namespace {

class traffic_impl : public traffic, public sis_client_block
{
public:
    explicit traffic_impl(const sim::traffic_client::config& config)
        : gr::block("hf_traffic",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          sis_client_block(""), d_client(config)
    {
    }

    traffic_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_client.state();
    }

protected:
    void engine_sis_in(station_time now, const uint8_t* p, size_t n) override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_client.sis_in(now, p, n);
    }
    void engine_run_deadlines(station_time now) override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        slep::run_deadlines(d_client, now);
    }
    void engine_exchange() override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        slep::exchange(
            d_client,
            [] { return false; },
            [this](const std::vector<uint8_t>& primitive) { send(primitive); });
    }
    bool engine_drain() override { return false; }
    void open() override {}
    void close() override {}

private:
    mutable std::mutex d_mutex; // displays call from other threads
    sim::traffic_client d_client;
};

} // namespace

traffic::sptr traffic::make(const std::string& peer,
                            uint64_t octets,
                            size_t u_pdu_octets,
                            int sap,
                            bool arq)
{
    return gnuradio::make_block_sptr<traffic_impl>(sim::traffic_client::config{
        s5066::address(peer), octets, u_pdu_octets, sap, arq });
}

} // namespace gr::hf
