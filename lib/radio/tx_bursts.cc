/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/tx_bursts.h"

#include "radio/audio_rates.h"
#include "radio/channel_filter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {
namespace {

void check_one(const char* name, double value, double least, double most)
{
    if (!(value >= least && value <= most))
        throw std::invalid_argument(std::string(name) + " = " + audio_rates::text(value) +
                                    ": allowed are " + audio_rates::text(least) + " to " +
                                    audio_rates::text(most));
}

const tx_burst_settings& checked(const tx_burst_settings& s)
{
    s.check();
    return s;
}

fraction inverse(fraction f) { return { f.down, f.up }; }

} // namespace

void tx_burst_settings::check() const
{
    audio_rates{ device_rate, 0, modem_rate }.check();
    check_one("device_rate", device_rate, modem_rate, audio_rates::max_audio);
    check_one("latency_s", latency_s, 0, 2);
    check_one("lead_s", lead_s, 0, 2);
    check_one("tail_s", tail_s, 0, 2);
}

tx_bursts::tx_bursts(const tx_burst_settings& s)
    : d_settings(checked(s)),
      d_ratio(inverse(audio_rates{ s.device_rate, 0, s.modem_rate }.ratio())),
      d_delay(std::llround((s.latency_s + s.lead_s) * s.device_rate)),
      d_lead(s.keyed_by_burst ? std::llround(s.lead_s * s.device_rate) : 0),
      d_tail(s.keyed_by_burst ? std::llround(s.tail_s * s.device_rate) : 0),
      d_resampler(s.modem_rate,
                  d_ratio,
                  0,
                  channel_edges::pass * s.modem_rate,
                  (1 - channel_edges::stop) * s.modem_rate,
                  1)
{
}

double tx_bursts::delay_s() const
{
    return static_cast<double>(d_delay) / d_settings.device_rate;
}

void tx_bursts::push(const std::complex<float>* x,
                     size_t n,
                     std::optional<size_t> first,
                     std::optional<size_t> last,
                     output& out)
{
    const size_t from = first.value_or(0), to = last ? *last + 1 : n;
    const uint64_t before = d_count;
    if (first) {
        d_count = before + from;
        begin(out);
    }
    if (d_sending)
        send(x + from, to - from, out);
    d_count = before + n;
    if (last && d_sending)
        end(out);
    if (d_release &&
        static_cast<int64_t>(d_count * d_ratio.up / d_ratio.down) >= *d_release) {
        d_release.reset();
        d_keyed = false;
        out.key.push_back(false);
    }
}

device_time tx_bursts::time_of(int64_t device_sample) const
{
    return d_sent_origin.after(device_sample + d_delay, d_settings.device_rate);
}

void tx_bursts::begin(output& out)
{
    ++d_number;
    if (!d_origin) {
        out.untimed = d_number;
        return;
    }
    d_sending = true;
    d_sent_origin = *d_origin;
    d_begun = false;
    d_release.reset();
    if (!d_keyed)
        out.key.push_back(true);
    d_keyed = true;
    d_resampler.start_at(d_count);
    // The filter's output before the middle of the first sample belongs to the burst.
    d_next = static_cast<int64_t>(d_resampler.next());
    const std::vector<std::complex<float>> zeros(static_cast<size_t>(d_lead));
    d_next -= d_lead;
    append(zeros.data(), zeros.size(), out);
}

void tx_bursts::send(const std::complex<float>* x, size_t n, output& out)
{
    d_resampler.push(x, n);
    d_resampled.resize(d_resampler.ready());
    d_resampler.take(d_resampled.data());
    append(d_resampled.data(), d_resampled.size(), out);
}

void tx_bursts::end(output& out)
{
    // The rest of the filter's response. Zeros after it are left out.
    const std::vector<std::complex<float>> silence(d_resampler.span());
    d_resampler.push(silence.data(), silence.size());
    d_resampled.resize(d_resampler.ready());
    d_resampler.take(d_resampled.data());
    while (d_resampled.size() > 1 && d_resampled.back() == std::complex<float>())
        d_resampled.pop_back();
    d_resampled.resize(d_resampled.size() + static_cast<size_t>(d_tail));
    append(d_resampled.data(), d_resampled.size(), out);
    d_sending = false;
    d_over = d_next;
    if (d_begun)
        out.marks.push_back(
            { out.samples.size() - 1, false, d_number, time_of(d_next - 1) });
    const auto tail = d_settings.keyed_by_burst
                          ? 0
                          : std::llround(d_settings.tail_s * d_settings.device_rate);
    d_release = d_over + d_delay + tail;
}

void tx_bursts::append(const std::complex<float>* x, size_t n, output& out)
{
    // If one transmission directly follows another, the first keeps the rest of its
    // filter's response.
    const auto skip = static_cast<size_t>(
        std::clamp<int64_t>(d_over - d_next, 0, static_cast<int64_t>(n)));
    d_next += static_cast<int64_t>(skip);
    if (n == skip)
        return;
    if (!d_begun) {
        d_begun = true;
        out.marks.push_back({ out.samples.size(), true, d_number, time_of(d_next) });
    }
    out.samples.insert(out.samples.end(), x + skip, x + n);
    d_next += static_cast<int64_t>(n - skip);
}

} // namespace gr::hf::kernel
