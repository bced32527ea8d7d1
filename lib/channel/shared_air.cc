/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/shared_air.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::kernel {
namespace {

// Distinct seeds, one for each ordered pair of stations.
uint64_t pair_seed(uint64_t seed, size_t from, size_t to)
{
    return seed * 1000003 + from * 64 + to;
}

void check(bool ok, const char* what, double value, const char* allowed)
{
    if (!ok)
        throw std::invalid_argument(std::string("air: ") + what + " " +
                                    std::to_string(value) + ": allowed are " + allowed);
}

} // namespace

shared_air::shared_air(const air_options& o)
    : d_sample_rate(3200.0 * o.bandwidth_khz),
      d_delay(static_cast<uint64_t>(std::lround(o.delay_ms * 1e-3 * d_sample_rate)))
{
    check(o.stations >= 2 && o.stations <= 64,
          "stations",
          static_cast<double>(o.stations),
          "2 to 64");
    check(o.bandwidth_khz >= 1 && o.bandwidth_khz <= 100,
          "bandwidth",
          o.bandwidth_khz,
          "1 to 100 kHz");
    check(o.delay_ms >= 10 && o.delay_ms <= 1000, "delay", o.delay_ms, "10 to 1000 ms");

    d_stations.resize(o.stations);
    for (size_t to = 0; to < o.stations; ++to)
        set_channel(to, o);
}

void shared_air::set_channel(size_t to, const air_options& o)
{
    auto paths = channel_spec::parse(o.channel);
    // Noise belongs to the receiver: it must not grow with the number of stations.
    channel_spec noise = channel_spec::parse("clear");
    std::swap(noise.snr_db, paths.snr_db);
    noise.bandwidth_khz = paths.bandwidth_khz.value_or(o.bandwidth_khz);

    auto& s = d_stations[to];
    s.noise = std::make_unique<channel>(
        noise, d_sample_rate, pair_seed(o.seed, to, to), o.signal_power);
    s.from.clear();
    for (size_t from = 0; from < d_stations.size(); ++from)
        s.from.push_back(from == to
                             ? nullptr
                             : std::make_unique<channel>(
                                   paths, d_sample_rate, pair_seed(o.seed, from, to)));
}

void shared_air::write(size_t station, const std::complex<float>* in, size_t n)
{
    auto& s = d_stations[station];
    s.sent.insert(s.sent.end(), in, in + n);
    s.written += n;
}

uint64_t shared_air::available(size_t station) const
{
    uint64_t upto = UINT64_MAX;
    for (size_t k = 0; k < d_stations.size(); ++k)
        if (k != station)
            upto = std::min(upto, d_stations[k].written + d_delay);
    const uint64_t taken = d_stations[station].taken;
    return upto > taken ? upto - taken : 0;
}

uint64_t shared_air::ahead(size_t station) const
{
    const uint64_t written = d_stations[station].written;
    const uint64_t taken = std::min(taken_by_all(), written);
    return written - taken;
}

uint64_t shared_air::taken_by_all() const
{
    uint64_t slowest = UINT64_MAX;
    for (const auto& s : d_stations)
        if (s.listens)
            slowest = std::min(slowest, s.taken);
    return slowest;
}

void shared_air::take(size_t station, size_t n, std::vector<samples>& heard)
{
    auto& s = d_stations[station];
    heard.resize(d_stations.size());
    // Before its first sample arrives a station is silent.
    const uint64_t skip =
        s.taken < d_delay ? std::min<uint64_t>(n, d_delay - s.taken) : 0;
    for (size_t k = 0; k < d_stations.size(); ++k) {
        if (k == station)
            continue;
        const auto& other = d_stations[k];
        heard[k].assign(n, std::complex<float>());
        if (skip < n) {
            const auto at =
                static_cast<ptrdiff_t>(s.taken + skip - d_delay - other.sent_from);
            std::copy_n(other.sent.begin() + at,
                        n - skip,
                        heard[k].begin() + static_cast<ptrdiff_t>(skip));
        }
    }
    s.taken += n;
    forget_taken_samples();
}

void shared_air::mix(size_t station,
                     std::vector<samples>& heard,
                     std::complex<float>* out,
                     size_t n)
{
    auto& s = d_stations[station];
    std::fill(out, out + n, std::complex<float>());
    for (size_t k = 0; k < d_stations.size(); ++k) {
        if (!s.from[k])
            continue;
        s.from[k]->process(heard[k].data(), heard[k].data(), n);
        for (size_t i = 0; i < n; ++i)
            out[i] += heard[k][i];
    }
    s.noise->process(out, out, n);
}

void shared_air::forget_taken_samples()
{
    const uint64_t slowest = taken_by_all();
    const uint64_t needed = slowest > d_delay ? slowest - d_delay : 0;
    for (auto& s : d_stations) {
        // In large pieces, as every erase moves the rest.
        if (needed < s.sent_from + 4096)
            continue;
        const uint64_t n = std::min<uint64_t>(needed - s.sent_from, s.sent.size());
        s.sent.erase(s.sent.begin(), s.sent.begin() + static_cast<ptrdiff_t>(n));
        s.sent_from += n;
    }
}

} // namespace gr::hf::kernel
