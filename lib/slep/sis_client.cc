/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/sis_client.h"

#include "s5066/between/link_report.h"

#include <stdexcept>
#include <string>

namespace gr::hf::s5066 {

sis_client::config sis_client::config::confirmed(uint8_t sap, uint8_t rank)
{
    config c;
    c.sap = sap;
    c.rank = rank;
    c.service = { transmission_mode::arq,
                  delivery_confirmation::node,
                  delivery_order::as_they_arrive };
    c.service.retransmissions = messages_wanted;
    return c;
}

sis_client::sis_client(const config& c) : d_config(c)
{
    if (c.sap > 15)
        throw std::invalid_argument("SAP " + std::to_string(c.sap) +
                                    ": expected 0 to 15");
    if (c.rank > 14)
        throw std::invalid_argument("rank " + std::to_string(c.rank) +
                                    ": expected 0 to 14");
    if (c.service.mode == transmission_mode::default_)
        throw std::invalid_argument("a bind needs a transmission mode");
    if (c.rebind_wait <= station_time(0))
        throw std::invalid_argument("rebind_wait must be longer than 0 s");
    if (c.bind_wait <= station_time(0))
        throw std::invalid_argument("bind_wait must be longer than 0 s");
    ask(station_time(0));
}

void sis_client::ask(station_time now)
{
    d_state = state::asking;
    d_ask_at = now + d_config.bind_wait;
    d_flow_off = false;
    d_out.push_back(
        encode(s_bind_request{ d_config.sap, d_config.rank, d_config.service }));
}

void sis_client::wait(station_time now)
{
    d_state = state::waiting;
    d_ask_at = now + d_config.rebind_wait;
    d_out.clear();
}

void sis_client::reset(station_time now)
{
    d_out.clear();
    ask(now);
}

sis_client::result sis_client::primitive_in(station_time now, const uint8_t* p, size_t n)
{
    result r;
    auto decoded = decode_primitive(p, n);
    if (!decoded) {
        ++d_invalid;
        return r;
    }
    if (const auto* accepted = std::get_if<s_bind_accepted>(&*decoded)) {
        // The answer repeats the SAP. An answer without a request changes nothing.
        if (d_state == state::asking && accepted->sap == d_config.sap) {
            d_state = state::bound;
            d_mtu = accepted->mtu;
            r.what = change::bound;
        }
    } else if (std::holds_alternative<s_bind_rejected>(*decoded)) {
        if (d_state == state::asking)
            wait(now);
    } else if (std::holds_alternative<s_unbind_indication>(*decoded)) {
        if (d_state != state::waiting) {
            if (d_state == state::bound)
                r.what = change::unbound;
            wait(now);
        }
    } else if (std::holds_alternative<s_data_flow_off>(*decoded)) {
        d_flow_off = true;
    } else if (std::holds_alternative<s_data_flow_on>(*decoded)) {
        if (d_flow_off)
            r.what = change::flow_on;
        d_flow_off = false;
    } else if (std::holds_alternative<s_keep_alive>(*decoded)) {
        // One answer is enough for all requests since the last poll.
        if (d_out.empty())
            d_out.push_back(encode(s_keep_alive{}));
    } else if (std::holds_alternative<s_unidata_indication>(*decoded) ||
               std::holds_alternative<s_unidata_request_confirm>(*decoded) ||
               std::holds_alternative<s_unidata_request_rejected>(*decoded)) {
        r.data = std::move(*decoded);
    } else if (auto* message = std::get_if<s_management_msg_indication>(&*decoded)) {
        r.message = std::move(*message);
    } else if (!std::holds_alternative<s_subnet_availability>(*decoded) &&
               !std::holds_alternative<s_hard_link_indication>(*decoded) &&
               !std::holds_alternative<s_hard_link_terminated>(*decoded)) {
        ++d_invalid;
    }
    return r;
}

std::optional<std::vector<uint8_t>> sis_client::poll()
{
    if (d_out.empty())
        return std::nullopt;
    auto out = std::move(d_out.front());
    d_out.pop_front();
    return out;
}

std::optional<station_time> sis_client::next_deadline() const
{
    if (d_state == state::bound)
        return std::nullopt;
    return d_ask_at;
}

void sis_client::on_deadline(station_time now)
{
    if (d_state == state::bound || now < d_ask_at)
        return;
    if (d_state == state::asking && now - d_ask_at > d_config.bind_wait) {
        d_ask_at = now + d_config.bind_wait; // the first call with a time, or a late one
        return;
    }
    d_out.clear();
    ask(now);
}

} // namespace gr::hf::s5066
