/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/baseband_to_audio.h"

#include <stdexcept>

namespace gr::hf::kernel {

namespace {

audio_rates checked(const audio_rates& r)
{
    r.check();
    // The pulse ends 80 Hz (of 9600) before the edge of the filter.
    const double half = (channel_edges::pass - 50.0 / 9600) * r.modem;
    if (!(r.subcarrier >= half && r.subcarrier <= r.audio / 2 - half))
        throw std::invalid_argument(
            "subcarrier " + audio_rates::text(r.subcarrier) + " Hz: allowed are " +
            audio_rates::text(half) + " to " + audio_rates::text(r.audio / 2 - half) +
            " Hz at " + audio_rates::text(r.audio) + " samples/s");
    return r;
}

} // namespace

baseband_to_audio::baseband_to_audio(double audio_rate,
                                     double subcarrier_hz,
                                     double modem_rate,
                                     bool from_modem)
    : baseband_to_audio(checked({ audio_rate, subcarrier_hz, modem_rate }),
                        from_modem ? channel_edges::own_stop : channel_edges::stop)
{
}

baseband_to_audio::baseband_to_audio(const audio_rates& rates, double filter_stop)
    : d_filter(filter_stop), d_mixer(rates.subcarrier / rates.modem),
      d_resampler(rates.modem,
                  { rates.ratio().down, rates.ratio().up },
                  rates.subcarrier,
                  channel_edges::pass * rates.modem,
                  (1 - channel_edges::stop) * rates.modem,
                  1)
{
}

void baseband_to_audio::push(const std::complex<float>* x,
                             size_t n,
                             std::vector<float>& out)
{
    d_filtered.clear();
    d_filter.push(x, n, d_filtered);
    convert(out);
}

void baseband_to_audio::convert(std::vector<float>& out)
{
    d_mixer.run(d_filtered.data(), d_filtered.size());
    d_resampler.push(d_filtered.data(), d_filtered.size());
    const size_t at = out.size(), count = d_resampler.ready();
    out.resize(at + count);
    d_resampler.take_real(out.data() + at);
}

void baseband_to_audio::finish(std::vector<float>& out)
{
    d_filtered.clear();
    d_filter.finish(d_filtered);
    convert(out);
    d_resampler.finish();
    d_filtered.clear();
    convert(out);
}

} // namespace gr::hf::kernel
