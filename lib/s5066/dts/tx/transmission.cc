/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/transmission.h"

#include "s5066/pdu/c_pdu.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

size_t max_blocks(const kernel::mode_timing& t, double s)
{
    const station_time limit = from_seconds(s) + t.block_begin(0);
    const auto guess =
        static_cast<size_t>(s * t.symbol_rate_bd / static_cast<double>(t.block_symbols));
    size_t b = std::max<size_t>(guess, 1) + 1;
    while (b > 1 && t.block_end(b - 1) > limit)
        --b;
    return b;
}

void transmission::set_blocks(size_t blocks)
{
    d_planned = true;
    d_blocks = blocks;
    d_octets = d_timing.octets_in(blocks);
}

station_time transmission::air_time_at(size_t octet) const
{
    const auto& t = d_timing;
    const size_t bit = 8 * octet;
    const size_t block = bit / t.bits_per_block;
    const double inside = static_cast<double>(bit % t.bits_per_block) /
                          static_cast<double>(t.bits_per_block);
    const double block_s = static_cast<double>(t.block_symbols) / t.symbol_rate_bd;
    return d_begin + t.block_begin(block) - t.block_begin(0) +
           from_seconds(inside * block_s);
}

station_time transmission::end() const
{
    return d_begin + d_timing.block_end(d_blocks - 1) - d_timing.block_begin(0);
}

station_time transmission::overdue_at() const
{
    // A modem that has not finished by then never will: it did not key, or lost its
    // connection.
    constexpr station_time patience = std::chrono::seconds(30);
    return patience + (d_planned ? end() : d_begin + d_timing.block_begin(0));
}

uint8_t transmission::eot_at(size_t octet) const
{
    const double left = to_seconds(end() - air_time_at(octet));
    return static_cast<uint8_t>(
        std::clamp(std::ceil(left / eot_unit_s - 1e-6), 0.0, 255.0));
}

void transmission::append(const d_pdu& d, const std::vector<uint8_t>& octets)
{
    d_buffer.insert(d_buffer.end(), octets.begin(), octets.end());
    d_produced += octets.size();
    note(d);
}

void transmission::note(const d_pdu& d)
{
    d_data |= carries_data(d);
    switch (d.large ? small_type(d.type) : d.type) {
    case d_pdu_type::ack_only:
        d_ack_sent = true;
        break;
    case d_pdu_type::data_ack:
        d_ack_sent = d_answer_wanted = true;
        break;
    case d_pdu_type::data_only:
    case d_pdu_type::expedited_data_only:
        d_answer_wanted = true;
        break;
    case d_pdu_type::reset:
        d_answer_wanted |= !d.reset.ack;
        break;
    case d_pdu_type::management:
        d_answer_wanted |= d.management.valid;
        break;
    case d_pdu_type::expedited_non_arq_data:
        if (d.segment.size() == 1) {
            const auto type = static_cast<c_pdu_type>(d.segment[0] >> 4);
            d_answer_wanted |=
                type == c_pdu_type::link_request || type == c_pdu_type::link_break;
        }
        break;
    default:
        break;
    }
}

double transmission::restart_s() const
{
    const double block_s =
        static_cast<double>(d_timing.block_symbols) / d_timing.symbol_rate_bd;
    // The block being sent, and one more for the end of message and the decoder's flush.
    return 2 * block_s + to_seconds(d_timing.block_begin(0));
}

std::vector<uint8_t> transmission::take(size_t max_octets)
{
    const auto n = static_cast<std::ptrdiff_t>(std::min(max_octets, d_buffer.size()));
    std::vector<uint8_t> taken(d_buffer.begin(), d_buffer.begin() + n);
    d_buffer.erase(d_buffer.begin(), d_buffer.begin() + n);
    return taken;
}

} // namespace gr::hf::s5066
