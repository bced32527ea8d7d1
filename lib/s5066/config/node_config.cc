/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/config/node_config.h"

#include "s5066/config/node_settings.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/rate/adaptive_rate.h"
#include "waveform/family.h"
#include "waveform/timing.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::s5066 {

namespace {

template <typename T>
void within(const char* name, T v, T lo, T hi)
{
    if (!(v >= lo && v <= hi)) {
        throw std::invalid_argument(std::string(name) + " " + std::to_string(v) +
                                    ": must be " + std::to_string(lo) + " to " +
                                    std::to_string(hi));
    }
}

// Header and CRC of a data D_PDU.
constexpr size_t octets_around = 32;

size_t max_mtu(const node_config& c) { return c.broadcast_only ? 4096 : sis_mtu; }

} // namespace

size_t node_config::max_u_pdu_octets() const
{
    return std::min(mtu, max_mtu(*this) - auth.max_trailer_octets());
}

void node_config::validate() const
{
    if (own.is_group()) {
        throw std::invalid_argument(
            "own address " + own.to_string() +
            ": must be a node address, 0.0.0.0 to 15.255.255.255");
    }
    for (const auto& g : groups) {
        if (!g.is_group()) {
            throw std::invalid_argument("group address " + g.to_string() +
                                        ": must be 16.0.0.0 to 31.255.255.255");
        }
    }
    const auto range = rate_range::parse(mode);
    const auto data = range ? range->reference() : gr::hf::mode::parse(mode);
    const auto timing = kernel::timing_of(data);
    const size_t blocks = timing.blocks_for(min_whole_segment + octets_around);
    const double needed_s =
        to_seconds(timing.block_end(blocks - 1) - timing.block_begin(0));
    if (!range && max_transmission_s < needed_s) {
        throw std::invalid_argument(
            "max_transmission_s " + std::to_string(max_transmission_s) + " with mode " +
            mode + ": one D_PDU takes " + std::to_string(needed_s) + " s");
    }
    if (drc && kernel::family_of(data).link.eow7_codes.empty()) {
        throw std::invalid_argument(
            "drc 1 with mode " + mode +
            ": allowed is 0, its modems are autobaud, and the rate "
            "change begins at 300 bit/s of 4539");
    }
    if (ack_mode != "auto" && ack_mode != "same")
        kernel::timing_of(gr::hf::mode::parse(ack_mode));
    check_ranges(*this);
    within<int>("address_size", address_size, own.half_octets(), 7);
    within<size_t>("mtu", mtu, 1, max_mtu(*this));
    auth.validate();
    if (send_ttd && !system_utc && !utc_at_zero_s) {
        throw std::invalid_argument(
            "send_ttd 1: needs the time, system_utc 1 (the computer's clock is right) or "
            "utc_at_zero_s (seconds since 1970 at station time 0)");
    }
}

} // namespace gr::hf::s5066
