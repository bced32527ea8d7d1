/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/keying_line.h"

#include "radio/audio_rates.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {
namespace {

void check_one(const char* name, double value, double least, double most)
{
    if (!(value >= least && value <= most))
        throw std::invalid_argument(std::string(name) + " " + audio_rates::text(value) +
                                    ": allowed are " + audio_rates::text(least) + " to " +
                                    audio_rates::text(most));
}

} // namespace

void keying_settings::check() const
{
    check_one("sample_rate", sample_rate, 1, audio_rates::max_audio);
    check_one("lead_s", lead_s, 0, 2);
    check_one("tail_s", tail_s, 0, 2);
    check_one("device_delay_s", device_delay_s, 0, 2);
    check_one("latency_s", latency_s, 0, 2);
    check_one("device_buffer_s", device_buffer_s, device_delay_s, 4);
}

keying_line::keying_line(const keying_settings& s)
{
    s.check();
    const auto samples = [&s](double seconds) {
        return static_cast<size_t>(std::ceil(seconds * s.sample_rate - 1e-6));
    };
    d_rate = s.sample_rate;
    d_lead_s = s.lead_s;
    d_delay_s = s.device_delay_s;
    d_line.resize(line_samples());
    d_held = samples(s.device_buffer_s);
    d_tail = samples(s.tail_s + s.latency_s);
}

size_t keying_line::line_samples() const
{
    const double lacks = d_lead_s - std::max(d_delay_s, 0.0);
    return lacks > 0 ? static_cast<size_t>(std::ceil(lacks * d_rate - 1e-6)) : 0;
}

void keying_line::device_holds(double seconds)
{
    const auto held = static_cast<uint64_t>(std::ceil(std::max(seconds, 0.0) * d_rate));
    if (d_release && held > d_held)
        *d_release += held - d_held;
    // While the last sample waits to be sent, the device holds it and the samples after
    // it.
    d_held = d_release ? std::max(held, d_held) : held;
}

std::vector<keying_line::event> keying_line::push(const std::complex<float>* x,
                                                  size_t n,
                                                  std::optional<size_t> first,
                                                  std::optional<size_t> last,
                                                  std::vector<std::complex<float>>& out)
{
    std::vector<event> events;
    for (size_t k = 0; k < n; ++k) {
        if (first && k == *first) {
            if (idle()) // there are only zeros in the line
                resize();
            d_transmitting = true;
            d_release.reset();
            if (!d_keyed)
                events.push_back({ true, d_out });
            d_keyed = true;
        }
        while (idle() && d_trim > 0) {
            pass({}, out);
            ++d_added;
            --d_trim;
        }
        if (idle() && d_trim < 0) {
            ++d_left_out;
            ++d_trim;
        } else {
            pass(x[k], out);
        }
        if (last && k == *last && d_transmitting) {
            d_transmitting = false;
            d_release = d_out + d_line.size() + d_held + d_tail;
        }
        if (d_release && d_out >= *d_release) {
            d_release.reset();
            d_keyed = false;
            events.push_back({ false, d_out });
        }
    }
    return events;
}

// The change of length counts as added or left out, as it moves all later samples.
void keying_line::resize()
{
    const size_t before = d_line.size(), now = line_samples();
    d_line.resize(now);
    (now > before ? d_added : d_left_out) +=
        static_cast<int64_t>(now > before ? now - before : before - now);
}

void keying_line::pass(std::complex<float> x, std::vector<std::complex<float>>& out)
{
    if (d_line.empty()) {
        out.push_back(x);
    } else {
        out.push_back(d_line.front());
        d_line.pop_front();
        d_line.push_back(x);
    }
    ++d_out;
}

} // namespace gr::hf::kernel
