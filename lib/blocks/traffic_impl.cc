/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/sis_client_block.h"
#include "s5066/sis.h"
#include "slep/sis_client.h"

#include <gnuradio/io_signature.h>
#include <hf/traffic.h>

#include <mutex>
#include <stdexcept>

namespace gr::hf {
namespace {

// U_PDUs submitted and not yet confirmed; enough for the longest transmission of a
// narrowband mode.
constexpr uint64_t max_outstanding = 200000;

//! Octet \p k of the message: the receiver can check any U_PDU by its own offset.
uint8_t pattern(uint64_t k) { return static_cast<uint8_t>(k * 167 + (k >> 8) * 13 + 5); }

class traffic_impl : public traffic, public sis_client_block
{
public:
    traffic_impl(const s5066::address& peer,
                 uint64_t octets,
                 size_t u_pdu_octets,
                 const s5066::sis_client::config& config)
        : gr::block("hf_traffic",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          sis_client_block(""), d_peer(peer), d_octets(octets), d_size(u_pdu_octets),
          d_service(config.service), d_client(config)
    {
    }

    traffic_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

protected:
    void engine_sis_in(sim_time now, const uint8_t* p, size_t n) override
    {
        const auto r = d_client.primitive_in(now, p, n);
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.bound = d_client.bound();
        if (!r.data)
            return;
        if (const auto* i = std::get_if<s5066::s_unidata_indication>(&*r.data)) {
            received(now, i->u_pdu);
        } else if (const auto* c =
                       std::get_if<s5066::s_unidata_request_confirm>(&*r.data)) {
            d_state.octets_confirmed += c->u_pdu.size();
            d_state.last_confirmed = to_seconds(now);
        } else if (const auto* x =
                       std::get_if<s5066::s_unidata_request_rejected>(&*r.data)) {
            d_state.octets_rejected += x->u_pdu.size();
        }
    }

    std::optional<std::vector<uint8_t>> engine_poll_sis() override
    {
        if (auto p = d_client.poll())
            return p;
        std::lock_guard<std::mutex> lock(d_mutex);
        auto& s = d_state;
        const uint64_t done = s.octets_confirmed + s.octets_rejected;
        if (!d_client.ready() || s.octets_submitted >= d_octets ||
            (d_service.confirmation == s5066::delivery_confirmation::node &&
             s.octets_submitted - done >= max_outstanding))
            return std::nullopt;
        if (s.octets_submitted == 0)
            s.first_submitted = to_seconds(now());
        s5066::s_unidata_request request;
        request.dst_sap = d_client.sap();
        request.dst = d_peer;
        request.mode = d_service;
        const uint64_t n = std::min<uint64_t>(d_size, d_octets - s.octets_submitted);
        // The offset first, so that U_PDUs may arrive in any order.
        for (int k = 7; k >= 0; --k)
            request.u_pdu.push_back(static_cast<uint8_t>(s.octets_submitted >> (8 * k)));
        for (uint64_t k = 8; k < n; ++k)
            request.u_pdu.push_back(pattern(s.octets_submitted + k));
        s.octets_submitted += request.u_pdu.size();
        return s5066::encode(request);
    }

    std::optional<sim_time> engine_next_deadline() const override
    {
        return d_client.next_deadline();
    }
    void engine_on_deadline(sim_time now) override { d_client.on_deadline(now); }
    bool engine_drain() override { return false; }
    void open() override {}
    void close() override {}

private:
    void received(sim_time now, const std::vector<uint8_t>& u_pdu)
    {
        if (d_state.octets_received == 0)
            d_state.first_received = to_seconds(now);
        d_state.last_received = to_seconds(now);
        d_state.octets_received += u_pdu.size();
        uint64_t offset = 0;
        for (size_t k = 0; k < std::min<size_t>(8, u_pdu.size()); ++k)
            offset = offset << 8 | u_pdu[k];
        for (size_t k = 8; k < u_pdu.size(); ++k)
            d_state.octets_damaged += u_pdu[k] != pattern(offset + k);
    }

    const s5066::address d_peer;
    const uint64_t d_octets;
    const size_t d_size;
    const s5066::delivery_mode d_service;
    s5066::sis_client d_client;
    mutable std::mutex d_mutex;
    traffic_state d_state;
};

} // namespace

traffic::sptr traffic::make(const std::string& peer,
                            uint64_t octets,
                            size_t u_pdu_octets,
                            int sap,
                            bool arq)
{
    if (u_pdu_octets < 8 || u_pdu_octets > s5066::sis_mtu)
        throw std::invalid_argument("u_pdu_octets " + std::to_string(u_pdu_octets) +
                                    ": allowed are 8 to 2048");
    if (sap < 0 || sap > 15)
        throw std::invalid_argument("sap " + std::to_string(sap) +
                                    ": allowed are 0 to 15");
    s5066::sis_client::config c;
    c.sap = static_cast<uint8_t>(sap);
    c.service.mode =
        arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
    c.service.confirmation =
        arq ? s5066::delivery_confirmation::node : s5066::delivery_confirmation::none;
    c.service.order = s5066::delivery_order::as_they_arrive;
    return gnuradio::make_block_sptr<traffic_impl>(
        s5066::address(peer), octets, u_pdu_octets, c);
}

} // namespace gr::hf
