/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/soft_receiver.h"

#include "waveform/description.h"

#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

/* Largest error of a block's time without a hole in the samples, s: paths of F.1487 lie at
 * most 7 ms apart. */
constexpr double on_time_s = 0.02;

double begin_s(const description& d, int64_t number)
{
    return static_cast<double>(d.block_begin(static_cast<uint64_t>(number))) /
           d.symbol_rate_bd;
}

/* The block that begins \p elapsed seconds after block \p first, if it is block \p least
 * or later. A hole in the samples moves blocks by less than half of one. */
int64_t number_of(const description& d, int64_t first, int64_t least, double elapsed)
{
    const double half = static_cast<double>(d.block_symbols()) / 2 / d.symbol_rate_bd;
    int64_t n = least;
    while (begin_s(d, n) - begin_s(d, first) + half < elapsed)
        ++n;
    return n;
}

} // namespace

soft_receiver::soft_receiver(const rx_options& options,
                             const std::vector<const family_reception*>& families)
    : d_receiver(options, families)
{
    d_receiver.keep_details(true);
}

double soft_receiver::seconds(int64_t sample) const
{
    return static_cast<double>(sample) / d_receiver.grid().sample_rate();
}

void soft_receiver::push(const std::complex<float>* samples,
                         size_t n,
                         const float* erased)
{
    d_receiver.push(samples, n, erased);
    while (const auto e = d_receiver.poll())
        take(*e);
}

void soft_receiver::take(const rx_event& e)
{
    if (const auto* start = std::get_if<rx_start>(&e.what)) {
        d_heard.push_back({ start->m, start->joined, false, start->freq_offset_hz, {} });
        return;
    }
    const auto* octets = std::get_if<rx_octets>(&e.what);
    if (octets == nullptr || !e.details || d_heard.empty())
        return;
    d_heard.back().m.reading = octets->reading;
    soft_block b{ 0,
                  seconds(e.sample),
                  e.channel.snr_db,
                  e.channel.doppler_hz,
                  e.channel.delay_spread_ms,
                  e.details->llrs };
    if (const auto& blocks = d_heard.back().blocks; !blocks.empty()) {
        const description& d = describe(d_heard.back().m);
        const soft_block &front = blocks.front(), &before = blocks.back();
        b.number =
            number_of(d, front.number, before.number + 1, b.begin_s - front.begin_s);
        const double due =
            before.begin_s + begin_s(d, b.number) - begin_s(d, before.number);
        if (std::abs(b.begin_s - due) > on_time_s) {
            const soft_transmission& t = d_heard.back();
            d_heard.push_back({ t.m, t.joined, true, t.freq_hz, {} });
        }
    }
    d_heard.back().blocks.push_back(std::move(b));
}

} // namespace gr::hf::kernel
