/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/half_duplex_modem.h"

#include "waveform/family.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {
namespace {

constexpr int64_t ns_per_second = 1000000000;

rx_options receiver_options(const half_duplex_options& o)
{
    rx_options rx;
    rx.zero_interleaver = o.zero_interleaver;
    rx.effort = o.effort;
    rx.give_noise = true;
    return rx;
}

} // namespace

half_duplex_modem::half_duplex_modem(modem_user& user, half_duplex_options options)
    : d_user(user), d_options(options),
      d_receiver(receiver_options(options), listened_for(options.bandwidth_khz)),
      d_modulator(grid().sample_rate()), d_tick(grid().tick_samples()), d_carrier(grid())
{
    if (options.agc_blocks < 0 || options.agc_blocks > 7)
        throw std::invalid_argument("agc_blocks " + std::to_string(options.agc_blocks) +
                                    ": allowed are 0 to 7");
    if (!(options.start_delay_s >= 0 && options.start_delay_s <= 60))
        throw std::invalid_argument("start_delay_s " +
                                    std::to_string(options.start_delay_s) +
                                    ": allowed are 0 to 60");
}

station_time sample_time(int64_t sample, int64_t rate)
{
    // Seconds and rest separately: the product would overflow after 11 days.
    return station_time(sample / rate * ns_per_second +
                        sample % rate * ns_per_second / rate);
}

station_time half_duplex_modem::time_of(int64_t sample) const
{
    return sample_time(sample, std::llround(grid().sample_rate()));
}

half_duplex_modem::tx_span half_duplex_modem::run(const std::complex<float>* rx,
                                                  std::complex<float>* tx,
                                                  const float* erased)
{
    const bool was_transmitting = transmitting();
    d_samples += tick_samples();
    if (was_transmitting)
        d_receiver.skip(tick_samples());
    else
        receive(rx, erased);
    sense(was_transmitting ? nullptr : rx);
    const bool started = now() >= from_seconds(d_options.start_delay_s);
    if (started)
        d_user.on_tick(now());

    tx_span span;
    const auto wanted = started ? d_user.want_tx(now()) : std::nullopt;
    if (!was_transmitting && wanted) {
        key_up(*wanted);
        span.first = 0;
    }
    if (d_break_off) {
        d_break_off = false;
        d_modulator.abort();
        span.last = 0;
        d_user.on_tx_end(now());
    }
    size_t sent = 0;
    if (transmitting()) {
        sent = d_modulator.produce(tx, tick_samples());
        if (!transmitting()) {
            span.last = sent > 0 ? sent - 1 : 0;
            d_user.on_tx_end(now());
        }
    }
    std::fill(tx + sent, tx + tick_samples(), std::complex<float>());
    return span;
}

// Our own transmission or a reception is not reported as a carrier, nor is anything
// before.
void half_duplex_modem::sense(const std::complex<float>* rx)
{
    if (!rx || d_receiving) {
        d_carrier.reset();
        if (d_carrier_reported) // otherwise it is still to be announced
            d_carrier_reported = false;
        return;
    }
    d_carrier.push(rx, tick_samples());
    if (d_carrier_reported != d_carrier.present()) {
        d_carrier_reported = d_carrier.present();
        d_user.on_carrier(now(), *d_carrier_reported);
    }
}

void half_duplex_modem::receive(const std::complex<float>* rx, const float* erased)
{
    d_receiver.push(rx, tick_samples(), erased);
    while (const auto event = d_receiver.poll()) {
        if (const auto* start = std::get_if<rx_start>(&event->what)) {
            d_receiving = true;
            d_user.on_rx_start(now(), *start);
        } else if (const auto* octets = std::get_if<rx_octets>(&event->what)) {
            d_channel = event->channel;
            d_block = event->details;
            d_user.on_rx_octets(now(), *octets);
        } else if (const auto* end = std::get_if<rx_end>(&event->what)) {
            d_receiving = false;
            d_user.on_rx_end(now(), { end->reason, time_of(event->sample) });
        }
    }
}

void half_duplex_modem::key_up(const mode& m)
{
    if (!(grid_of(m) == grid()))
        throw std::invalid_argument("mode " + m.to_string() + " has " +
                                    std::to_string(grid_of(m).symbol_rate_bd()) +
                                    " Bd, this modem " +
                                    std::to_string(grid().symbol_rate_bd()));
    d_receiver.reset();
    if (d_receiving) {
        d_receiving = false;
        d_user.on_rx_end(now(), { rx_end_reason::preempted, now() });
    }
    tx_options options;
    options.agc_blocks =
        std::min(d_options.agc_blocks, static_cast<int>(describe(m).max_agc_blocks));
    // Output sample k of this tick is on the air together with input sample k.
    d_tx_origin = d_samples - tick_samples();
    d_modulator.start(
        m,
        [this](uint64_t air_sample, size_t max_octets) {
            const auto air = time_of(static_cast<int64_t>(d_tx_origin + air_sample));
            return d_user.pull(now(), air, max_octets);
        },
        options);
}

} // namespace gr::hf::kernel
