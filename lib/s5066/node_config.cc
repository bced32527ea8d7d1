/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node_config.h"

#include "s5066/adaptive_rate.h"
#include "s5066/d_pdu.h"
#include "s5066/sis.h"
#include "waveform/timing.h"

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

} // namespace

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
    if (!rate_range::parse(mode)) {
        kernel::timing_of(gr::hf::mode::parse(mode));
    }
    if (ack_mode != "auto" && ack_mode != "same") {
        kernel::timing_of(gr::hf::mode::parse(ack_mode));
    }
    within<int>("address_size", address_size, own.half_octets(), 7);
    within<size_t>("segment_octets", segment_octets, 0, max_segment);
    within<unsigned>("window", window, 1, 128);
    if (large_windows && !extensions) {
        throw std::invalid_argument("large_windows 1: needs extensions 1 as well");
    }
    within("max_expedited", max_expedited, 1u, 1000u);
    within("max_transmission_s", max_transmission_s, 1.0, 127.5);
    within("broadcast_s", broadcast_s, 1.0, 3600.0);
    within("sync_errors", sync_errors, 0u, 3u);
    within("turnaround_s", turnaround_s, 0.0, 60.0);
    within("hold_s", hold_s, 0.0, 60.0);
    within("peer_turnaround_s", peer_turnaround_s, 0.0, 120.0);
    within("rx_latency_s", rx_latency_s, 0.0, 120.0);
    within("ack_timeout_s", ack_timeout_s, 0.0, 600.0);
    within("max_silent_rounds", max_silent_rounds, 1u, 100u);
    within("carrier_detect_s", carrier_detect_s, 0.0, 60.0);
    within("reset_tries", reset_tries, 1u, 100u);
    within("contention_slot_s", contention_slot_s, 0.0, 60.0);
    within("slot", slot, 0u, 100u);
    within("slot_s", slot_s, 0.1, 60.0);
    within("ack_copies", ack_copies, 1u, 4u);
    within("management_tries", management_tries, 1u, 100u);
    within("link_idle_s", link_idle_s, 0.0, 1e6);
    within("link_tries", link_tries, 1u, 100u);
    within("break_tries", break_tries, 1u, 100u);
    within("first_data_s", first_data_s, 0.0, 1e6);
    within("hard_link_response_s", hard_link_response_s, 1.0, 1e6);
    within("hard_link_client_s", hard_link_client_s, 1.0, 1e6);
    within("hard_link_end_s", hard_link_end_s, 1.0, 1e6);
    within("remote_rank", remote_rank, 0u, 15u);
    within("max_bound", max_bound, 1u, 16u);
    within("client_expedited", client_expedited, 1u, 1000000u);
    within("client_expedited_per_minute", client_expedited_per_minute, 1u, 1000000u);
    within("max_links", max_links, 1u, 200u);
    within("link_alternate_s", link_alternate_s, 0.0, 1e6);
    within("lone_run_s", lone_run_s, 0.0, 1e6);
    within<size_t>("mtu", mtu, 1, broadcast_only ? 4096 : sis_mtu);
    within<size_t>("response_fragment", response_fragment, 0, 4096);
    within<size_t>("queue_octets", queue_octets, 0, 1u << 30);
    within("default_ttl_s", default_ttl_s, 2.0, 1296000.0);
    within("client_confirm_s", client_confirm_s, 1.0, 1296000.0);
    within("keep_alive_s", keep_alive_s, 0.0, 1e6);
    within("keep_alive_answer_s", keep_alive_answer_s, 0.1, 1e6);
    within("max_invalid_primitives", max_invalid_primitives, 1u, 1000000u);
    within("max_clients", max_clients, 1u, 4096u);
}

} // namespace gr::hf::s5066
