/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/auth_words.h"
#include "blocks/data_link_report.h"
#include "blocks/modem_messages.h"
#include "blocks/pdu.h"
#include "blocks/sis_client_block.h"
#include "edges/auth_file.h"
#include "edges/pcap_file.h"
#include "modem/decode/segment_decoder.h"
#include "s5066/config/node_settings.h"
#include "s5066/node/node.h"

#include <gnuradio/block_registry.h>
#include <gnuradio/io_signature.h>
#include <hf/data_link.h>

#include <algorithm>
#include <chrono>
#include <mutex>

namespace gr::hf {
namespace {

using s5066::node_config;

// Primitives that wait for the end of a tick. SIS never gives a client this much credit.
constexpr size_t max_held = 16384;
// The mode is looked up once in this many ticks.
constexpr uint64_t ticks_for_mode = 20;
// Between readings of the computer's clock.
constexpr station_time utc_again = std::chrono::seconds(60);

node_config make_config(const std::string& address,
                        const std::string& mode,
                        const std::string& ack_mode,
                        const s5066::node_settings& settings,
                        const auth_words& auth)
{
    node_config c;
    c.auth = auth.config;
    if (c.auth.on()) {
        c.auth.state = auth_file(auth.state_path).load();
        c.auth.start_minutes =
            static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::minutes>(
                                      std::chrono::system_clock::now().time_since_epoch())
                                      .count());
    }
    c.own = s5066::address(address);
    c.mode = mode;
    c.ack_mode = ack_mode;
    c.trace = true;
    // Stations that wait equally long after a collision collide again. By default each
    // address has its own seed.
    for (const char k : c.own.to_string())
        c.seed = (c.seed ^ static_cast<uint8_t>(k)) * 0x100000001b3u;
    s5066::apply(settings, c);
    return c;
}

class data_link_impl : public data_link
{
public:
    data_link_impl(const node_config& config,
                   const std::string& d_pdu_pcap,
                   const std::string& sis_pcap,
                   const std::string& auth_state)
        : gr::block("hf_data_link",
                    gr::io_signature::make(0, 0, 0),
                    gr::io_signature::make(0, 0, 0)),
          d_modem(pmt::mp("modem")), d_sis(pmt::mp("sis")), d_log(pmt::mp("log")),
          d_node(config, kernel::decode_after_zeros),
          d_d_pdus(d_pdu_pcap, pcap_file::kind::d_pdu),
          d_primitives(sis_pcap, pcap_file::kind::sis), d_auth_file(auth_state)
    {
        d_node.set_tap(d_d_pdus.wanted());
        message_port_register_in(d_modem);
        message_port_register_out(d_modem);
        message_port_register_in(d_sis);
        message_port_register_out(d_sis);
        message_port_register_out(d_log);
        set_msg_handler(
            d_modem, [this](const pmt::pmt_t& m) { on_modem(m); });
        set_msg_handler(d_sis, [this](const pmt::pmt_t& m) { on_sis(m); });
    }

    bool start() override
    {
        // Find the connected blocks that answer ticks. Others (a message sink, a user's
        // block) only listen.
        d_lock_step_clients = 0;
        for (auto list = message_subscribers(d_sis); pmt::is_pair(list);
             list = pmt::cdr(list)) {
            const auto target = pmt::car(list); // pair of block and port
            const auto block = global_block_registry.block_lookup(pmt::car(target));
            if (dynamic_cast<sis_client_block*>(block.get()) != nullptr ||
                pmt::eqv(pmt::cdr(target), pmt::mp("sis_in_step")))
                ++d_lock_step_clients;
        }
        return true;
    }

    data_link_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return report_of(d_node.state(), d_now);
    }

    std::map<std::string, uint64_t> stats() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        auto m = report_of(d_node.stats());
        m["bad_messages"] = d_bad_messages;
        return m;
    }

    void set_mode(const std::string& mode) override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_node.set_mode(mode);
    }

    void set_emcon(bool on) override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_node.set_emcon(d_modem_now, on);
    }

    void set_broadcast(bool on) override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        d_node.set_broadcast(d_modem_now, on);
    }

private:
    void on_modem(const pmt::pmt_t& msg)
    {
        pmt::pmt_t reply;
        const pdu::reader r(msg);
        bool understood = false;
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            if (const auto now = r.time(keys::now()); now && !d_tick_open) {
                d_modem_now = *now;
                set_utc(r);
                set_grant(r);
                understood = modem_messages::dispatch(msg, d_node, reply);
                if (const auto reason = r.symbol(keys::reason());
                    r.type() == "tx_damaged")
                    d_node.on_tx_damaged(
                        d_modem_now, reason, modem_messages::ends_transmission(reason));
                d_now = d_node.now();
            }
        }
        if (!understood) {
            bad_message("modem");
            return;
        }
        publish();
        if (r.type() == "tick")
            tick_clients(r.flag(keys::lock_step()));
        else if (reply)
            message_port_pub(d_modem, reply);
    }

    // In lock step station time runs at its own speed, the same for all stations, so once
    // is enough. A sample clock drifts away from UTC by seconds a day.
    void set_utc(const pdu::reader& r)
    {
        if (!d_node.config().system_utc || r.type() != "tick" ||
            (d_utc_set && (r.flag(keys::lock_step()) || d_now - *d_utc_set < utc_again)))
            return;
        d_utc_set = d_now;
        d_node.set_utc(d_modem_now,
                       std::chrono::duration<double>(
                           std::chrono::system_clock::now().time_since_epoch())
                           .count());
    }

    // ALE decides when and for whom the channel may be used.
    void set_grant(const pdu::reader& r)
    {
        if (r.type() != "tick" || !r.has(keys::open()))
            return;
        d_granted = true;
        std::optional<s5066::address> only;
        try {
            if (const auto text = r.symbol(keys::only()); !text.empty())
                only = s5066::address(text);
        } catch (const std::invalid_argument&) {
            // any block may post any message
        }
        d_node.set_grant(d_modem_now, r.flag(keys::open()), only);
    }

    // Clients act on a tick before the modem is answered, so that their data can go into
    // a transmission that begins now. In lock step all clients are waited for.
    void tick_clients(bool lock_step)
    {
        d_tick_open = true;
        d_answers_due = lock_step ? d_lock_step_clients : 0;
        d_hold = d_answers_due > 0;
        if (++d_ticks % ticks_for_mode == 1) {
            std::lock_guard<std::mutex> lock(d_mutex);
            const auto s = d_node.state();
            // With an adaptive rate the mode of data counts, not that of an
            // acknowledgement.
            if (s.phase == s5066::node_phase::transmitting ? s.unacknowledged > 0
                                                           : d_data_mode.empty())
                d_data_mode = s.tx_mode;
        }
        message_port_pub(d_sis,
                         pdu::builder("tick")
                             .set(keys::now(), d_now)
                             .set(keys::lock_step(), lock_step)
                             .set(keys::mode(), d_data_mode)
                             .make());
        if (d_answers_due == 0)
            end_tick();
    }

    void end_tick()
    {
        // Threads race. The order of their messages within a tick must not depend on it.
        std::stable_sort(d_held.begin(), d_held.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        modem_messages::tick_answer answer;
        {
            std::lock_guard<std::mutex> lock(d_mutex);
            for (const auto& [client, octets] : d_held)
                primitive(client, octets);
            answer.key_up = d_node.want_tx(d_modem_now);
            if (d_granted) {
                if (const auto wanted = d_node.wanted())
                    answer.wanted = wanted->to_string();
                answer.active = d_node.active();
                answer.joined = d_node.joined();
                answer.unanswered = d_node.unanswered();
            }
        }
        d_held.clear();
        d_tick_open = false;
        publish();
        message_port_pub(d_modem, modem_messages::tick_done(answer));
    }

    void on_sis(const pmt::pmt_t& msg)
    {
        const pdu::reader r(msg);
        const auto client = r.integer(keys::client());
        auto octets = r.octets();
        if (client && r.type() == "tick_done") {
            if (d_answers_due > 0 && --d_answers_due == 0)
                end_tick();
        } else if (!client || (octets.empty() && r.type() != "client_gone")) {
            bad_message("sis");
        } else if (d_tick_open || d_hold) {
            if (d_held.size() < max_held)
                d_held.emplace_back(*client, std::move(octets));
            else
                bad_message("sis");
        } else {
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                primitive(*client, octets);
            }
            publish();
        }
    }

    // Without octets: the client has closed.
    void primitive(uint64_t client, const std::vector<uint8_t>& octets)
    {
        if (octets.empty()) {
            d_node.client_gone(d_modem_now, client);
            return;
        }
        d_primitives.write(d_now, client, false, octets);
        d_node.sis_in(d_modem_now, client, octets);
    }

    // All output of the node except to the modem.
    void publish()
    {
        store_counters();
        for (;;) {
            std::optional<s5066::sis_output> p;
            {
                std::lock_guard<std::mutex> lock(d_mutex);
                p = d_node.poll_sis();
            }
            if (!p)
                break;
            d_primitives.write(d_now, p->client, true, p->octets);
            message_port_pub(d_sis,
                             pdu::builder()
                                 .set(keys::now(), d_now)
                                 .set(keys::client(), p->client)
                                 .make(p->octets));
        }
        std::lock_guard<std::mutex> lock(d_mutex);
        while (const auto t = d_node.poll_tap())
            d_d_pdus.write(*t);
        for (pcap_file* capture : { &d_d_pdus, &d_primitives }) {
            const std::string failure = capture->poll_failure();
            if (failure.empty())
                continue;
            d_logger->error("{}", failure);
            message_port_pub(d_log, pdu::line(d_now, failure));
        }
        d_node.set_tap(d_d_pdus.wanted());
        while (const auto line = d_node.poll_trace())
            message_port_pub(d_log, log_message(*line));
    }

    // Saves the counters of the proofs. Called before a frame that they count is sent or
    // passed on, so that a restart never uses a number twice.
    void store_counters()
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        const auto changed = d_node.poll_auth_state();
        const std::string failure = changed ? d_auth_file.save(*changed) : "";
        if (failure.empty())
            return;
        d_logger->error("{}", failure);
        message_port_pub(d_log, pdu::line(d_now, failure));
    }

    static pmt::pmt_t log_message(const s5066::log_record& r)
    {
        pdu::builder b("log");
        if (r.detail)
            b.set(keys::detail(), true);
        if (r.d_pdu) {
            b.set(keys::d_pdu(), std::string(to_string(r.d_pdu->fate)))
                .set(keys::d_pdus(), uint64_t{ r.d_pdu->count })
                .set(keys::acknowledges(), r.d_pdu->acknowledges);
        }
        return pdu::line(r.time, r.text, b);
    }

    void bad_message(const char* port)
    {
        if (d_bad_messages++ == 0)
            d_logger->warn(
                "{} port: not a message of this port, dropped (further ones are "
                "only counted)",
                port);
    }

    const pmt::pmt_t d_modem, d_sis, d_log;
    mutable std::mutex d_mutex; // displays call from other threads
    s5066::node d_node;
    station_time d_modem_now{}; // as the modem reports it
    station_time d_now{};       // station time, which never runs backwards
    std::optional<station_time> d_utc_set;
    bool d_granted = false; // ALE decides about the use of the channel
    uint64_t d_bad_messages = 0;
    size_t d_lock_step_clients = 0;
    size_t d_answers_due = 0;
    uint64_t d_ticks = 0;
    std::string d_data_mode;  // mode of the last data transmission, or the mode that was
                              // set
    bool d_tick_open = false; // between a tick and its answer to the modem
    // In lock step, and before it is known, primitives wait for the end of a tick.
    // Otherwise thread timing would decide whether they come before or after the modem's
    // next message.
    bool d_hold = true;
    std::vector<std::pair<uint64_t, std::vector<uint8_t>>> d_held;
    pcap_file d_d_pdus;
    pcap_file d_primitives;
    auth_file d_auth_file;
};

} // namespace

std::map<std::string, double> data_link::settings()
{
    std::map<std::string, double> values;
    for (const auto& s : s5066::describe_settings())
        values[s.name] = s.value;
    return values;
}
std::vector<setting_info> data_link::describe_settings()
{
    return s5066::describe_settings();
}

data_link::sptr data_link::make(const std::string& address,
                                const std::string& mode,
                                const std::string& ack_mode,
                                const std::map<std::string, double>& settings,
                                const std::string& d_pdu_pcap,
                                const std::string& sis_pcap,
                                const std::vector<std::string>& auth)
{
    const auto words = read_auth_words(auth);
    return gnuradio::make_block_sptr<data_link_impl>(
        make_config(address, mode, ack_mode, settings, words),
        d_pdu_pcap,
        sis_pcap,
        words.state_path);
}

} // namespace gr::hf
