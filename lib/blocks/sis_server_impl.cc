/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "edges/io_thread.h"
#include "edges/sis_edge.h"

#include <gnuradio/io_signature.h>
#include <hf/sis_server.h>

#include <stdexcept>

namespace gr::hf {
namespace {

class sis_server_impl : public sis_server
{
public:
    sis_server_impl(const sis_edge::settings& s, const std::string& netns)
        : gr::block("hf_sis_server",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_sis(pmt::mp("sis")), d_io(netns),
          d_edge(d_io.context(),
                 s,
                 { keys::new_client_id,
                   [this](uint64_t id, const std::vector<uint8_t>& primitive) {
                       message_port_pub(
                           d_sis, pdu::builder().set(keys::client(), id).make(primitive));
                   },
                   [this](uint64_t id) {
                       message_port_pub(
                           d_sis,
                           pdu::builder("client_gone").set(keys::client(), id).make());
                   },
                   [this](const std::string& line) { d_logger->info("{}", line); },
                   [this](const std::string& line) { d_logger->warn("{}", line); } })
    {
        message_port_register_in(d_sis);
        message_port_register_out(d_sis);
        set_msg_handler(d_sis, [this](const pmt::pmt_t& m) { on_message(m); });
        // Listen now, so that the constructor reports a port in use. The scheduler only
        // logs it.
        d_io.run_and_wait([this] { d_edge.listen(); });
    }

    ~sis_server_impl() override { d_io.stop(); }

    bool start() override
    {
        d_io.run_and_wait([this] { d_edge.start(); });
        return true;
    }

    bool stop() override
    {
        d_io.run_and_wait([this] { d_edge.stop(); });
        return true;
    }

    int port() const override { return d_edge.port(); }

    std::map<std::string, uint64_t> stats() const override
    {
        const auto s = d_edge.stats();
        return { { "clients", s.clients },
                 { "accepted", s.accepted },
                 { "refused", s.refused },
                 { "disconnected", s.disconnected },
                 { "primitives_in", s.from_clients },
                 { "primitives_out", s.to_clients } };
    }

private:
    void on_message(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        if (r.type() == "tick") {
            if (const auto now = r.time(keys::now()))
                d_io.post_time(*now, [this](station_time t) { d_edge.tick(t); });
            return;
        }
        auto octets = r.octets();
        const auto id = r.integer(keys::client());
        if (!id || octets.empty())
            return;
        d_io.post([this, id = *id, octets = std::move(octets)]() mutable {
            d_edge.to_client(id, std::move(octets));
        });
    }

    const pmt::pmt_t d_sis;
    io_thread d_io;
    sis_edge d_edge; // lives on d_io
};

} // namespace

sis_server::sptr sis_server::make(const std::string& address,
                                  int port,
                                  int max_clients,
                                  size_t max_out,
                                  const std::string& netns,
                                  const std::vector<std::string>& ranks)
{
    const auto where = listen_endpoint(address, port);
    if (max_clients < 5 || max_clients > 60)
        throw std::invalid_argument("max_clients " + std::to_string(max_clients) +
                                    ": allowed are 5 to 60");
    if (max_out < 65540 || max_out > (size_t(1) << 30))
        throw std::invalid_argument("max_out " + std::to_string(max_out) +
                                    ": allowed are 65540 to 2^30 octets");
    return gnuradio::make_block_sptr<sis_server_impl>(
        sis_edge::settings{
            where, static_cast<size_t>(max_clients), max_out, sis_ranks(ranks) },
        netns);
}

} // namespace gr::hf
