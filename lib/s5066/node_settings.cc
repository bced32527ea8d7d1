/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node_settings.h"

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace gr::hf::s5066 {
namespace {

struct setting {
    const char* name;
    std::function<double(const node_config&)> get;
    std::function<void(node_config&, double)> set;
};

template <class T>
setting field(const char* name, T node_config::*member)
{
    const auto get = [member](const node_config& c) {
        return static_cast<double>(c.*member);
    };
    const auto set = [member, name](node_config& c, double v) {
        // What the type cannot hold would become some other value, perhaps an allowed one.
        const double largest = static_cast<double>(std::numeric_limits<T>::max());
        const bool whole = !std::is_integral_v<T> || v == std::floor(v);
        const bool fits = std::is_same_v<T, bool> ? v <= 1 : v < largest;
        if (!(v >= 0 && fits && whole))
            throw std::invalid_argument(
                std::string("data link setting ") + name + " = " + std::to_string(v) +
                ": allowed is a" + (std::is_integral_v<T> ? " whole" : "") +
                (std::is_same_v<T, bool> ? " number 0 or 1" : " number from 0 on"));
        c.*member = static_cast<T>(v);
    };
    return { name, get, set };
}

const std::vector<setting>& all_settings()
{
    static const std::vector<setting> list = {
        field("segment_octets", &node_config::segment_octets),
        field("address_size", &node_config::address_size),
        field("window", &node_config::window),
        field("max_expedited", &node_config::max_expedited),
        field("max_transmission_s", &node_config::max_transmission_s),
        field("broadcast_s", &node_config::broadcast_s),
        field("sync_errors", &node_config::sync_errors),
        field("full_duplex", &node_config::full_duplex),
        field("turnaround_s", &node_config::turnaround_s),
        field("hold_s", &node_config::hold_s),
        field("peer_turnaround_s", &node_config::peer_turnaround_s),
        field("rx_latency_s", &node_config::rx_latency_s),
        field("ack_timeout_s", &node_config::ack_timeout_s),
        field("max_silent_rounds", &node_config::max_silent_rounds),
        field("carrier_detect_s", &node_config::carrier_detect_s),
        field("reset_tries", &node_config::reset_tries),
        field("contention_slot_s", &node_config::contention_slot_s),
        field("slot", &node_config::slot),
        field("slot_s", &node_config::slot_s),
        field("ack_copies", &node_config::ack_copies),
        field("extensions", &node_config::extensions),
        field("large_windows", &node_config::large_windows),
        field("drc", &node_config::drc),
        field("management_tries", &node_config::management_tries),
        field("link_idle_s", &node_config::link_idle_s),
        field("link_tries", &node_config::link_tries),
        field("break_tries", &node_config::break_tries),
        field("first_data_s", &node_config::first_data_s),
        field("max_links", &node_config::max_links),
        field("link_alternate_s", &node_config::link_alternate_s),
        field("lone_run_s", &node_config::lone_run_s),
        field("broadcast_only", &node_config::broadcast_only),
        field("hard_link_response_s", &node_config::hard_link_response_s),
        field("hard_link_client_s", &node_config::hard_link_client_s),
        field("hard_link_end_s", &node_config::hard_link_end_s),
        field("remote_rank", &node_config::remote_rank),
        field("mtu", &node_config::mtu),
        field("queue_octets", &node_config::queue_octets),
        field("default_ttl_s", &node_config::default_ttl_s),
        field("client_confirm_s", &node_config::client_confirm_s),
        field("keep_alive_s", &node_config::keep_alive_s),
        field("keep_alive_answer_s", &node_config::keep_alive_answer_s),
        field("max_invalid_primitives", &node_config::max_invalid_primitives),
        field("max_clients", &node_config::max_clients),
        field("max_bound", &node_config::max_bound),
        field("client_expedited", &node_config::client_expedited),
        field("client_expedited_per_minute", &node_config::client_expedited_per_minute),
        field("response_fragment", &node_config::response_fragment),
        field("seed", &node_config::seed),
    };
    return list;
}

} // namespace

void apply(const node_settings& settings, node_config& config)
{
    for (const auto& [name, value] : settings) {
        const setting* found = nullptr;
        std::string names;
        for (const auto& s : all_settings()) {
            names += std::string(names.empty() ? "" : ", ") + s.name;
            if (name == s.name)
                found = &s;
        }
        if (found == nullptr)
            throw std::invalid_argument("data link setting '" + name +
                                        "' is unknown; allowed are " + names);
        found->set(config, value);
    }
    config.validate();
}

std::vector<std::pair<std::string, double>> default_settings()
{
    std::vector<std::pair<std::string, double>> list;
    for (const auto& s : all_settings())
        list.emplace_back(s.name, s.get(node_config()));
    return list;
}

} // namespace gr::hf::s5066
