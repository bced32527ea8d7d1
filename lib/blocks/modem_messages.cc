/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_messages.h"

#include "blocks/pdu.h"
#include "radio/tx_log.h"

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace gr::hf::modem_messages {
namespace {

// More points than this in a constellation hide each other.
constexpr size_t max_shown = 2048;

constexpr std::array<std::pair<rx_end_reason, const char*>, 4> end_reasons{ {
    { rx_end_reason::eom, "eom" },
    { rx_end_reason::lost, "lost" },
    { rx_end_reason::preempted, "preempted" },
    { rx_end_reason::limit, "limit" },
} };

std::optional<mode> parse_mode(const std::string& text)
{
    try {
        return mode::parse(text);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

} // namespace

const char* to_string(rx_end_reason r)
{
    for (const auto& [reason, name] : end_reasons)
        if (reason == r)
            return name;
    return "lost";
}

pmt::pmt_t tick(station_time now, bool lock_step, const std::optional<channel_use>& use)
{
    pdu::builder b("tick");
    b.set(keys::now(), now).set(keys::lock_step(), lock_step);
    if (use)
        b.set(keys::open(), use->open).set(keys::only(), use->only);
    return b.make();
}

pmt::pmt_t tick_done(const tick_answer& answer)
{
    pdu::builder b("tick_done");
    if (answer.key_up)
        b.set(keys::mode(), answer.key_up->to_string());
    if (!answer.wanted.empty())
        b.set(keys::wanted(), answer.wanted);
    if (answer.active)
        b.set(keys::active(), true);
    if (answer.joined)
        b.set(keys::joined(), true);
    if (answer.unanswered > 0)
        b.set(keys::unanswered(), answer.unanswered);
    return b.make();
}

pmt::pmt_t pull(station_time now, station_time air_time, size_t max_octets)
{
    return pdu::builder("pull")
        .set(keys::now(), now)
        .set(keys::air_time(), air_time)
        .set(keys::max_octets(), static_cast<uint64_t>(max_octets))
        .make();
}

pmt::pmt_t octets(const tx_octets& o)
{
    return pdu::builder("tx_octets").set(keys::last(), o.last).make(o.octets);
}

pmt::pmt_t tx_end(station_time now)
{
    return pdu::builder("tx_end").set(keys::now(), now).make();
}

pmt::pmt_t tx_start(station_time now, const mode& m)
{
    return pdu::builder("tx_start")
        .set(keys::now(), now)
        .set(keys::mode(), m.to_string())
        .make();
}

pmt::pmt_t start(station_time now, const rx_start& e)
{
    return pdu::builder("rx_start")
        .set(keys::now(), now)
        .set(keys::mode(), e.m.to_string())
        .set(keys::snr_db(), e.snr_db)
        .set(keys::freq_offset_hz(), e.freq_offset_hz)
        .set(keys::joined(), e.joined)
        .make();
}

pmt::pmt_t octets(station_time now, const rx_octets& e)
{
    auto p = pdu::builder("rx_octets");
    p.set(keys::now(), now).set(keys::snr_db(), e.snr_db).set(keys::quality(), e.quality);
    if (e.doppler_hz)
        p.set(keys::doppler_hz(), *e.doppler_hz);
    if (!e.ratios.empty()) {
        // Not an s8vector: pmt.to_python() does not know it.
        const std::vector<uint8_t> ratios(e.ratios.begin(), e.ratios.end());
        p.set(keys::ratios(), pmt::init_u8vector(ratios.size(), ratios))
            .set(keys::ratios_from(), e.ratios_from);
    }
    return p.make(e.octets);
}

pmt::pmt_t channel(station_time now, const kernel::channel_report& c)
{
    return pdu::builder("channel")
        .set(keys::now(), now)
        .set(keys::freq_offset_hz(), c.freq_offset_hz)
        .set(keys::doppler_hz(), c.doppler_hz)
        .set(keys::delay_spread_ms(), c.delay_spread_ms)
        .set(keys::coded_ber(), c.coded_ber)
        .set(keys::profile(), c.profile)
        .make();
}

pmt::pmt_t block(station_time now,
                 const std::string& mode,
                 const rx_octets& e,
                 const kernel::channel_report& c,
                 const kernel::block_details& d)
{
    const size_t step = (d.symbols.size() + max_shown - 1) / max_shown;
    std::vector<std::complex<float>> symbols;
    for (size_t k = 0; k < d.symbols.size(); k += step)
        symbols.push_back(d.symbols[k]);
    std::vector<std::complex<float>> taps;
    if (d.taps.size() >= c.profile.size())
        taps.assign(d.taps.end() - static_cast<long>(c.profile.size()), d.taps.end());
    return pdu::builder("block")
        .set(keys::now(), now)
        .set(keys::mode(), mode)
        .set(keys::snr_db(), e.snr_db)
        .set(keys::quality(), e.quality)
        .set(keys::freq_offset_hz(), c.freq_offset_hz)
        .set(keys::doppler_hz(), c.doppler_hz)
        .set(keys::delay_spread_ms(), c.delay_spread_ms)
        .set(keys::coded_ber(), c.coded_ber)
        .set(keys::profile(), c.profile)
        .set(keys::taps(), taps)
        .make(symbols);
}

pmt::pmt_t end(station_time now, const rx_end& e)
{
    return pdu::builder("rx_end")
        .set(keys::now(), now)
        .set(keys::reason(), std::string(to_string(e.reason)))
        .set(keys::air_time(), e.air_end)
        .make();
}

pmt::pmt_t carrier(station_time now, bool present)
{
    return pdu::builder("carrier")
        .set(keys::now(), now)
        .set(keys::present(), present)
        .make();
}

pmt::pmt_t tx_damaged(station_time now, uint64_t transmission, const std::string& reason)
{
    return pdu::builder("tx_damaged")
        .set(keys::now(), now)
        .set(keys::transmission(), transmission)
        .set(keys::reason(), reason)
        .make();
}

bool ends_transmission(const std::string& reason)
{
    return reason == to_string(kernel::tx_trouble::lost) ||
           reason == to_string(kernel::tx_trouble::unkeyed);
}

bool dispatch(const pmt::pmt_t& msg, modem_user& user, pmt::pmt_t& reply)
{
    reply = pmt::pmt_t();
    const pdu::reader r(msg);
    const auto now = r.time(keys::now());
    if (!now)
        return false;
    const std::string type = r.type();

    if (type == "tick") {
        user.on_tick(*now);
    } else if (type == "pull") {
        const auto air_time = r.time(keys::air_time());
        const auto room = r.integer(keys::max_octets());
        if (!air_time || !room)
            return false;
        reply = octets(user.pull(*now, *air_time, *room));
    } else if (type == "tx_end") {
        user.on_tx_end(*now);
    } else if (type == "rx_start") {
        const auto m = parse_mode(r.symbol(keys::mode()));
        if (!m)
            return false;
        user.on_rx_start(*now,
                         { *m,
                           r.real(keys::snr_db()),
                           r.real(keys::freq_offset_hz()),
                           r.flag(keys::joined()) });
    } else if (type == "rx_octets") {
        constexpr double unknown = -1;
        rx_octets e{ r.octets(), r.real(keys::snr_db()), r.real(keys::quality(), 1.0) };
        const double doppler_hz = r.real(keys::doppler_hz(), unknown);
        if (doppler_hz >= 0 && std::isfinite(doppler_hz))
            e.doppler_hz = doppler_hz;
        const auto ratios = r.octets(keys::ratios());
        e.ratios.assign(ratios.begin(), ratios.end());
        e.ratios_from = r.integer(keys::ratios_from()).value_or(0);
        user.on_rx_octets(*now, e);
    } else if (type == "rx_end") {
        const auto air_end = r.time(keys::air_time());
        const std::string name = r.symbol(keys::reason());
        for (const auto& [reason, text] : end_reasons) {
            if (air_end && name == text) {
                user.on_rx_end(*now, { reason, *air_end });
                return true;
            }
        }
        return false;
    } else if (type == "carrier") {
        user.on_carrier(*now, r.flag(keys::present()));
    } else if (type != "tx_damaged") { // only our data link uses tx_damaged
        return false;
    }
    return true;
}

std::optional<tick_answer> parse_tick_done(const pmt::pmt_t& msg)
{
    const pdu::reader r(msg);
    if (r.type() != "tick_done")
        return std::nullopt;
    tick_answer a;
    if (r.has(keys::mode()))
        a.key_up = parse_mode(r.symbol(keys::mode()));
    a.wanted = r.symbol(keys::wanted());
    a.active = r.flag(keys::active());
    a.joined = r.flag(keys::joined());
    a.unanswered = r.integer(keys::unanswered()).value_or(0);
    return a;
}

std::optional<tx_octets> parse_tx_octets(const pmt::pmt_t& msg)
{
    const pdu::reader r(msg);
    if (r.type() != "tx_octets")
        return std::nullopt;
    return tx_octets{ r.octets(), r.flag(keys::last()) };
}

} // namespace gr::hf::modem_messages
