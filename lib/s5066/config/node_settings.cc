/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/config/node_settings.h"

#include <cmath>
#include <functional>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace gr::hf::s5066 {
namespace {

struct setting {
    setting_info info;
    std::function<double(const node_config&)> get;
    std::function<void(node_config&, double)> set;
};

std::string text_of(double v)
{
    std::ostringstream text;
    text << std::setprecision(17) << v;
    return text.str();
}

void check(const setting_info& s, double v, const std::string& what)
{
    if (v >= s.least && v <= s.most && (!s.whole || v == std::floor(v)))
        return;
    throw std::invalid_argument(what + text_of(v) + ": allowed are " +
                                (s.whole ? "whole numbers from " : "") +
                                text_of(s.least) + " to " + text_of(s.most) +
                                (s.unit.empty() ? "" : " " + s.unit));
}

template <class T>
setting field(const char* name,
              T node_config::*member,
              double least,
              double most,
              const char* unit,
              const char* meaning)
{
    const auto get = [member](const node_config& c) {
        return static_cast<double>(c.*member);
    };
    // Safe: the range of the setting fits the type.
    const auto set = [member](node_config& c, double v) {
        c.*member = static_cast<T>(v);
    };
    const double value = get(node_config());
    return { { name, value, least, most, std::is_integral_v<T>, unit, meaning },
             get,
             set };
}

// Value 0 means that the time is unknown.
setting utc_at_zero()
{
    const auto get = [](const node_config& c) {
        return static_cast<double>(c.utc_at_zero_s.value_or(0));
    };
    const auto set = [](node_config& c, double v) {
        c.utc_at_zero_s = v > 0 ? std::optional(static_cast<int64_t>(v)) : std::nullopt;
    };
    constexpr double end_of_9999 = 253402300799;
    return { { "utc_at_zero_s",
               0,
               0,
               end_of_9999,
               true,
               "s",
               "UTC since 1970 at station time 0, for time to die; 0: unknown" },
             get,
             set };
}

// Name, member, least and greatest value, unit, meaning: the whole user documentation of
// a setting.
const std::vector<setting>& all_settings()
{
    // clang-format off
    static const std::vector<setting> list = {
        field("segment_octets", &node_config::segment_octets, 0, 1023, "octets",
              "longest segment of a D_PDU; 0: chosen by rate and frame loss"),
        field("address_size", &node_config::address_size, 1, 7, "half octets",
              "length of an address in D_PDUs, at least that of our own address"),
        field("window", &node_config::window, 1, 128, "D_PDUs",
              "unacknowledged D_PDUs allowed per peer"),
        field("max_expedited", &node_config::max_expedited, 1, 1000, "C_PDUs",
              "expedited C_PDUs that may wait for a peer; one is sent at a time"),
        field("max_transmission_s", &node_config::max_transmission_s, 1, max_eot_s, "s",
              "longest transmission, from the first D_PDU on"),
        field("broadcast_s", &node_config::broadcast_s, 1, 3600, "s",
              "longest transmission to a group; EOT is 0 until its last 127.5 s"),
        field("sync_errors", &node_config::sync_errors, 0, 3, "bits",
              "wrong bits allowed in the sync word of a D_PDU"),
        field("copy_memory", &node_config::copy_memory, 0, 2, "",
              "damaged copies make a good segment: 0 no, 1 two as octets, 2 all as soft bits"),
        field("full_duplex", &node_config::full_duplex, 0, 1, "",
              "1: the modem sends and receives at once, without turns"),
        field("turnaround_s", &node_config::turnaround_s, 0, 60, "s",
              "pause after a peer's transmission before keying; 0: 0.1, wideband 0.05"),
        field("prompt_priority", &node_config::prompt_priority, 1, 16, "",
              "U_PDUs of at least this priority keep transmissions short for a while; 16: none"),
        field("max_silent_rounds", &node_config::max_silent_rounds, 1, 100, "transmissions",
              "unanswered transmissions until the peer counts as lost"),
        field("carrier_detect_s", &node_config::carrier_detect_s, 0, 60, "s",
              "time until a modem with a carrier detector notices another transmission"),
        field("reset_tries", &node_config::reset_tries, 1, 100, "transmissions",
              "unanswered transmissions with a reset command until the peer counts as lost"),
        field("slot", &node_config::slot, 0, 100, "",
              "slot of this node in a fixed order, different at each node; 0: by who has waited"),
        field("slot_s", &node_config::slot_s, 0.1, 60, "s",
              "length of a slot, longer than all others need to notice that one node keys"),
        field("extensions", &node_config::extensions, 0, 1, "",
              "1: announce our extensions by EOW 15 (S5066-EP7) and use those a peer announces"),
        field("large_windows", &node_config::large_windows, 0, 1, "",
              "1: 16-bit frame numbers (EP5, our reconstruction) with peers that have them"),
        field("drc", &node_config::drc, 0, 1, "",
              "1: data rate change by MANAGEMENT D_PDUs, for modems that are not autobaud"),
        field("management_tries", &node_config::management_tries, 1, 100, "",
              "tries of a MANAGEMENT message until the peer counts as lost"),
        field("link_idle_s", &node_config::link_idle_s, 0, 1e6, "s",
              "time without data after which the caller breaks the link"),
        field("link_tries", &node_config::link_tries, 1, 100, "",
              "link requests with a fair chance until giving up (N_REQ); in all at most 4 times that"),
        field("share_cycle_s", &node_config::share_cycle_s, 1, 1e6, "s",
              "time within which each station on a shared channel gets its turn"),
        field("lone_run_s", &node_config::lone_run_s, 0, 1e6, "s",
              "longest time without a pause in which a station not yet heard can start"),
        field("broadcast_only", &node_config::broadcast_only, 0, 1, "",
              "1: only data without ARQ; links and ARQ clients are refused"),
        field("hard_link_response_s", &node_config::hard_link_response_s, 1, 1e6, "s",
              "timeout for the other node's answer to a hard link (T_HL_RESPONSE)"),
        field("hard_link_client_s", &node_config::hard_link_client_s, 1, 1e6, "s",
              "timeout for the called client's answer to a hard link (T_HL_CLIENT)"),
        field("hard_link_end_s", &node_config::hard_link_end_s, 1, 1e6, "s",
              "timeout for the confirmation of TERMINATE (T_HL_TERM)"),
        field("remote_rank", &node_config::remote_rank, 0, 15, "",
              "rank assumed for clients of other nodes"),
        field("mtu", &node_config::mtu, 1, 4096, "octets",
              "longest U_PDU accepted; above 2048 only with broadcast_only"),
        field("queue_octets", &node_config::queue_octets, 0, 1073741824, "octets",
              "high water mark of flow control; 0: 1.25 of the longest transmission"),
        field("keep_alive_s", &node_config::keep_alive_s, 0, 1e6, "s",
              "interval of S_KEEP_ALIVE, at least 120; 0: none sent"),
        field("max_clients", &node_config::max_clients, 1, 4096, "",
              "clients at the same time, bound or not"),
        field("max_bound", &node_config::max_bound, 1, 16, "",
              "bound SAPs; when full, a higher rank displaces a lower one"),
        field("client_expedited", &node_config::client_expedited, 1, 1e6, "",
              "unconfirmed expedited requests of a client until it is unbound"),
        field("client_expedited_per_minute", &node_config::client_expedited_per_minute, 1, 1e6, "",
              "expedited requests of a client per minute until it is unbound"),
        field("send_ttd", &node_config::send_ttd, 0, 1, "",
              "1: U_PDUs carry their time to die and are dropped after it; needs the time"),
        field("system_utc", &node_config::system_utc, 0, 1, "",
              "1: this computer's clock is right within a second, for time to die"),
        utc_at_zero(),
        field("seed", &node_config::seed, 0, 9007199254740992, "",
              "seed of random waits and initial numbers; the address sets the default"),
    };
    // clang-format on
    return list;
}

} // namespace

void apply(const node_settings& settings, node_config& config)
{
    for (const auto& [name, value] : settings) {
        const setting* found = nullptr;
        std::string names;
        for (const auto& s : all_settings()) {
            names += std::string(names.empty() ? "" : ", ") + s.info.name;
            if (name == s.info.name)
                found = &s;
        }
        if (found == nullptr)
            throw std::invalid_argument("data link setting '" + name +
                                        "' is unknown; allowed are " + names);
        check(found->info, value, "data link setting " + name + " = ");
        found->set(config, value);
    }
    config.validate();
}

void check_ranges(const node_config& config)
{
    // The seed may be any 64-bit number, which the double of a setting cannot hold.
    for (const auto& s : all_settings())
        if (s.info.name != "seed")
            check(s.info, s.get(config), s.info.name + " ");
}

std::vector<setting_info> describe_settings()
{
    std::vector<setting_info> list;
    for (const auto& s : all_settings())
        list.push_back(s.info);
    return list;
}

} // namespace gr::hf::s5066
