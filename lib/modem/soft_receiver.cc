/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/soft_receiver.h"

#include "waveform/description.h"

#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

/* The block that begins \p elapsed seconds after block 0, if it is block \p least or
 * later. A hole in the samples moves blocks by less than half of one. */
int64_t number_of(const description& d, int64_t least, double elapsed)
{
    const double symbols = elapsed * d.symbol_rate_bd;
    const auto half = static_cast<double>(d.block_symbols()) / 2;
    int64_t n = least;
    while (static_cast<double>(d.block_begin(static_cast<uint64_t>(n))) + half < symbols)
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
        d_heard.push_back({ start->m, start->joined, start->freq_offset_hz, {} });
        return;
    }
    const auto* octets = std::get_if<rx_octets>(&e.what);
    if (octets == nullptr || !e.details || d_heard.empty())
        return;
    soft_transmission& t = d_heard.back();
    t.m.reading = octets->reading;
    soft_block b{ 0,
                  seconds(e.sample),
                  e.channel.snr_db,
                  e.channel.doppler_hz,
                  e.channel.delay_spread_ms,
                  e.details->llrs };
    if (!t.blocks.empty())
        b.number = number_of(describe(t.m),
                             t.blocks.back().number + 1,
                             b.begin_s - t.blocks.front().begin_s);
    t.blocks.push_back(std::move(b));
}

} // namespace gr::hf::kernel
