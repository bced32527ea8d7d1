/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/channeliser.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

std::string in_hz(double hz) { return std::to_string(std::llround(hz)); }

size_t checked_size(double rate, double channel_rate)
{
    const auto multiple_of = [](double x, double unit) {
        return std::fmod(x, unit) == 0 && x > 0;
    };
    if (!multiple_of(channel_rate, 40))
        throw std::invalid_argument("channels of " + std::to_string(channel_rate) +
                                    " samples/s: allowed are multiples of 40");
    if (!multiple_of(rate, 20) || rate < 2 * channel_rate)
        throw std::invalid_argument(std::to_string(rate) +
                                    " samples/s: allowed are multiples of 20 from " +
                                    in_hz(2 * channel_rate) + " on");
    return static_cast<size_t>(std::lround(channeliser::block_s * rate));
}

} // namespace

channeliser::channeliser(double rate,
                         const std::vector<double>& centres_hz,
                         double channel_rate)
    : d_size(checked_size(rate, channel_rate)), d_held(d_size / 2), d_wide(d_size),
      d_narrow(static_cast<size_t>(std::lround(block_s * channel_rate)))
{
    const double widest = rate / 2 - stop * channel_rate;
    for (const double hz : centres_hz) {
        if (!(std::abs(hz) <= widest))
            throw std::invalid_argument("channel at " + in_hz(hz) +
                                        " Hz: allowed are centres within " +
                                        in_hz(widest) + " Hz of the middle");
        const int64_t bin = std::llround(hz * block_s);
        const double rest = hz - static_cast<double>(bin) / block_s;
        d_cuts.push_back({ bin, mixer(-rest / channel_rate) });
    }
    const auto n = static_cast<double>(d_narrow.size());
    for (size_t k = 0; static_cast<double>(k) < stop * n; ++k) {
        const double slope =
            std::clamp((static_cast<double>(k) / n - pass) / (stop - pass), 0.0, 1.0);
        d_response.push_back(static_cast<float>((0.5 + 0.5 * std::cos(M_PI * slope)) /
                                                static_cast<double>(d_size)));
    }
}

std::vector<double> channeliser::grid(double rate, double spacing_hz, double channel_rate)
{
    const auto most =
        static_cast<int>(std::floor((rate / 2 - stop * channel_rate) / spacing_hz));
    std::vector<double> centres;
    for (int k = -most; k <= most; ++k)
        centres.push_back(k * spacing_hz);
    return centres;
}

void channeliser::push(const value* x, size_t n, std::vector<std::vector<value>>& out)
{
    while (n > 0) {
        const size_t took = std::min(n, d_size - d_held.size());
        d_held.insert(d_held.end(), x, x + took);
        x += took;
        n -= took;
        if (d_held.size() == d_size)
            block(out);
    }
}

void channeliser::block(std::vector<std::vector<value>>& out)
{
    std::copy(d_held.begin(), d_held.end(), d_wide.data());
    d_held.erase(d_held.begin(),
                 d_held.begin() + static_cast<std::ptrdiff_t>(d_size / 2));
    d_wide.forward();
    for (size_t k = 0; k < d_cuts.size(); ++k)
        one(d_cuts[k], out[k]);
    d_odd = !d_odd;
}

void channeliser::one(cut& c, std::vector<value>& out)
{
    value *narrow = d_narrow.data(), *wide = d_wide.data();
    const auto size = static_cast<int64_t>(d_size);
    const auto length = static_cast<int64_t>(d_narrow.size());
    const auto reach = static_cast<int64_t>(d_response.size());
    // Each block starts half a block after the last one, which turns odd bins by half a
    // turn.
    const float sign = d_odd && c.bin % 2 != 0 ? -1.0f : 1.0f;
    std::fill(narrow + reach, narrow + length - reach + 1, value{});
    for (int64_t k = 1 - reach; k < reach; ++k) {
        const int64_t from = c.bin + k; // at most half the stream's rate from 0
        narrow[k < 0 ? k + length : k] =
            wide[from < 0 ? from + size : from] *
            (sign * d_response[static_cast<size_t>(std::abs(k))]);
    }
    d_narrow.backward();
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    out.insert(out.end(), narrow + length / 4, narrow + length / 4 + length / 2);
    // The part of the centre between bins keeps turning.
    c.rest.run(out.data() + begin, static_cast<size_t>(length / 2));
}

} // namespace gr::hf::kernel
