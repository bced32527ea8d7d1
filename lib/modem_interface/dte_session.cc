/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/dte_session.h"

#include "waveform/description.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

// The modem may be receiving for as long as a transmission, and a little longer.
constexpr auto ready_limit = 180s;
// A transmission may end this much later than computed.
constexpr auto end_limit = 30s;
// Between the last data of a reception and the loss of carrier.
constexpr auto rx_end_limit = 1s;
// A modem may report any blocking factor. No interleaver block is longer than this.
constexpr size_t max_block_bits = 1 << 23;
// Limit for a data link that does not read its events.
constexpr size_t max_events = 65536;

} // namespace

dte_session::dte_session(const dte_settings& settings)
    : d_settings(settings), d_timing(kernel::timing_of(settings.tx_mode))
{
}

std::optional<port_event> dte_session::poll_event()
{
    if (d_events.empty())
        return std::nullopt;
    auto e = std::move(d_events.front());
    d_events.pop_front();
    return e;
}

bool dte_session::mismatch() const
{
    const auto& d = kernel::describe(d_settings.tx_mode);
    return d_modem_rate != 0 &&
           (d_modem_rate != static_cast<uint32_t>(d_settings.tx_mode.rate_bps) ||
            d_modem_blocking != d.input_bits);
}

void dte_session::on_tick(station_time now)
{
    d_now = std::max(d_now, now);
    on_station_tick();
    if (d_receiving && (d_rx_last || d_rx_off) && d_now >= d_rx_ended_at + rx_end_limit)
        end_rx(rx_end_reason::eom);
    if (d_tx == tx::idle)
        return;
    pull_more();
    const station_time end = d_anchor + d_timing.duration(d_octets);
    if (d_tx == tx::nowhere && d_ended && d_now >= end)
        end_tx();
    else if (d_tx == tx::started && d_ended && d_now >= end + end_limit)
        finish("the modem does not end its transmission");
    else if (d_tx == tx::waiting && d_now >= d_keyed_at + ready_limit)
        finish("the modem does not become ready to transmit");
}

void dte_session::key_up(station_time now, const mode& m)
{
    d_now = std::max(d_now, now);
    if (d_tx != tx::idle)
        return;
    if (d_receiving)
        end_rx(rx_end_reason::preempted);
    d_timing = kernel::timing_of(m);
    d_keyed_at = d_anchor = d_now;
    d_block = d_octets = 0;
    d_ended = d_prefilled = false;
    if (connected()) {
        d_tx = tx::waiting;
        tx_begin();
    } else {
        d_tx = tx::nowhere;
        ++d_lost;
    }
    pull_more();
}

bool dte_session::pull_due() const
{
    if (d_tx == tx::nowhere)
        return d_now >= d_anchor + d_timing.block_begin(d_block);
    const size_t lead = lead_blocks();
    if (d_block < lead)
        return true;
    if (d_tx == tx::waiting && !starts_by_itself())
        return false;
    return d_now >= d_anchor + d_timing.block_begin(d_block - lead);
}

size_t dte_session::block_bits() const
{
    return d_modem_blocking >= 8 && d_modem_blocking <= max_block_bits
               ? d_modem_blocking
               : d_timing.bits_per_block;
}

size_t dte_session::lead_blocks() const
{
    const size_t bits = block_bits();
    return d_settings.prefill + (8 * tx_overhead() + bits - 1) / bits;
}

// One pull at a time. The answer says whether another follows.
void dte_session::pull_more()
{
    if (d_tx == tx::idle || d_ended || d_asked > 0 || !pull_due())
        return;
    // Blocks need not be a whole number of octets.
    const size_t bits = block_bits();
    const size_t n = (d_block + 1) * bits / 8 - d_block * bits / 8;
    if (d_tx != tx::nowhere && !tx_room(n))
        return;
    const station_time begin = d_tx == tx::waiting ? d_now : d_anchor;
    const station_time air = std::max(d_now, begin + d_timing.block_begin(d_block));
    ++d_block;
    d_asked = n;
    emit(pull_request{ air, n });
}

void dte_session::on_octets(const tx_octets& o)
{
    if (d_stale > 0) {
        --d_stale;
        return;
    }
    if (d_asked == 0)
        return;
    const bool ends = o.last || o.octets.size() < d_asked;
    octets data(o.octets);
    data.resize(std::min(data.size(), d_asked));
    d_asked = 0;
    const bool first = d_octets == 0 && d_block == 1;
    d_octets += data.size();
    d_ended = d_ended || ends;
    if (d_tx == tx::waiting || d_tx == tx::started)
        tx_data(data, first, ends);
    if (d_tx == tx::waiting && !d_prefilled && (ends || d_block >= lead_blocks())) {
        d_prefilled = true;
        tx_prefilled();
    }
    pull_more();
}

void dte_session::end_tx()
{
    if (d_asked > 0)
        ++d_stale;
    d_asked = 0;
    d_tx = tx::idle;
    emit(tx_ended{});
}

void dte_session::close(station_time)
{
    reset_wire();
    d_modem_rate = d_modem_blocking = 0;
    if (d_tx == tx::waiting || d_tx == tx::started) {
        d_tx = tx::nowhere;
        ++d_lost;
    }
    if (d_receiving)
        end_rx(rx_end_reason::lost);
}

void dte_session::modem_setup(uint32_t rate_bps, uint32_t blocking_bits)
{
    d_modem_rate = rate_bps;
    d_modem_blocking = blocking_bits;
}

void dte_session::modem_started()
{
    if (d_tx != tx::waiting)
        return;
    d_tx = tx::started;
    d_anchor = d_now;
    pull_more();
}

void dte_session::modem_flushed()
{
    if (d_tx == tx::started)
        end_tx();
}

void dte_session::modem_gave_up()
{
    if (d_tx != tx::waiting && d_tx != tx::started)
        return;
    d_tx = tx::started;
    d_lost += !d_ended;
    d_ended = true;
}

mode dte_session::mode_of(uint32_t rate_bps, uint32_t blocking_bits) const
{
    const mode* same_rate = nullptr;
    const mode* exact = nullptr;
    for (const auto& m : mode::all()) {
        // The far end does not report the bandwidth. Both must be set to the same.
        if (m.bandwidth_hz != d_settings.tx_mode.bandwidth_hz ||
            static_cast<uint32_t>(m.rate_bps) != rate_bps)
            continue;
        if (!same_rate || m == d_settings.tx_mode)
            same_rate = &m;
        if (kernel::describe(m).input_bits == blocking_bits &&
            (!exact || m == d_settings.tx_mode))
            exact = &m;
    }
    return exact ? *exact : same_rate ? *same_rate : d_settings.tx_mode;
}

void dte_session::carrier(bool on, uint32_t rate_bps, uint32_t blocking_bits)
{
    // Half duplex: a reception that our transmission cuts off is not reported.
    if (d_tx == tx::waiting || d_tx == tx::started)
        return;
    if (on) {
        if (d_receiving && (d_rx_last || d_rx_off))
            end_rx(rx_end_reason::eom);
        if (d_receiving)
            return;
        d_receiving = true;
        d_rx_last = d_rx_off = false;
        rx_start e;
        e.m = mode_of(rate_bps, blocking_bits);
        emit(e);
    } else if (d_receiving && !d_rx_off) {
        d_rx_off = true;
        if (d_rx_last)
            end_rx(rx_end_reason::eom);
        else
            d_rx_ended_at = d_now;
    }
}

void dte_session::data(octets o)
{
    if (!d_receiving || o.empty() || d_events.size() > max_events)
        return;
    rx_octets e;
    e.octets = std::move(o);
    emit(std::move(e));
}

void dte_session::last()
{
    if (!d_receiving || d_rx_last)
        return;
    d_rx_last = true;
    if (d_rx_off)
        end_rx(rx_end_reason::eom);
    else
        d_rx_ended_at = d_now;
}

void dte_session::end_rx(rx_end_reason why)
{
    const bool known = why == rx_end_reason::eom && (d_rx_last || d_rx_off);
    d_receiving = false;
    emit(rx_end{ why, known ? std::min(d_now, d_rx_ended_at) : d_now });
    d_rx_last = d_rx_off = false;
    d_rx_ended_at = d_now;
}

} // namespace gr::hf::modem_interface
