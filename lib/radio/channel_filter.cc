/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/channel_filter.h"

// before liquid, which then uses std::complex
#include <liquid/liquid.h>
#include <volk/volk.h>

#include <algorithm>
#include <numeric>

namespace gr::hf::kernel {

volk::vector<float> low_pass(double pass, double stop, float stop_band_db)
{
    // Kaiser's estimate, as liquid's own refuses transitions wider than half of the rate.
    // An odd length gives a delay of whole samples.
    const auto length =
        static_cast<unsigned>((stop_band_db - 7.95) / (14.36 * (stop - pass))) | 1u;
    volk::vector<float> taps(length);
    liquid_firdes_kaiser(
        length, static_cast<float>((pass + stop) / 2), stop_band_db, 0, taps.data());
    const float sum = std::accumulate(taps.begin(), taps.end(), 0.0f);
    for (float& t : taps)
        t /= sum;
    return taps;
}

channel_filter::channel_filter(double stop)
    : d_taps(low_pass(channel_edges::pass, stop, channel_edges::stop_band_db)),
      d_delay(d_taps.size() / 2)
{
    // VOLK multiplies 16 samples at once, and the rest one by one.
    constexpr size_t vector = 16;
    const size_t more = (vector - d_taps.size() % vector) % vector;
    d_taps.insert(d_taps.begin(), more, 0);
    d_history.resize(more + d_delay);
}

void channel_filter::push(const std::complex<float>* x,
                          size_t n,
                          std::vector<std::complex<float>>& out)
{
    d_history.insert(d_history.end(), x, x + n);
    if (d_history.size() < d_taps.size())
        return;
    const size_t count = d_history.size() - d_taps.size() + 1, first = out.size();
    out.resize(first + count);
    // The taps are symmetric, so their order does not matter.
    for (size_t i = 0; i < count; ++i)
        volk_32fc_32f_dot_prod_32fc_u(&out[first + i],
                                      &d_history[i],
                                      d_taps.data(),
                                      static_cast<unsigned>(d_taps.size()));
    d_history.erase(d_history.begin(), d_history.begin() + static_cast<long>(count));
}

void channel_filter::finish(std::vector<std::complex<float>>& out)
{
    const std::vector<std::complex<float>> silence(delay());
    push(silence.data(), silence.size(), out);
}

} // namespace gr::hf::kernel
