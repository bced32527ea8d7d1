/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/sound_checks.h"
#include "edges/sound_device.h"
#include "radio/arrival_clock.h"

#include <gnuradio/io_signature.h>
#include <hf/audio_source.h>
#include <hf/keys.h>

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

namespace gr::hf {
namespace {

using steady = std::chrono::steady_clock;

class audio_source_impl : public audio_source
{
public:
    audio_source_impl(const std::string& device, int audio_rate)
        : gr::sync_block("hf_audio_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(float))),
          d_rate(checked_sound_rate(audio_rate))
    {
        d_options.name = device;
        d_options.rate = static_cast<unsigned>(audio_rate);
        d_device.emplace(d_options);
        d_clock.emplace(d_rate);
    }

    bool start() override
    {
        d_begin = d_last = d_opened = steady::now();
        try {
            if (d_device)
                d_device->start();
        } catch (const sound_device_lost& error) {
            lose(error.what());
        }
        return true;
    }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        auto* y = static_cast<float*>(out[0]);
        const auto most = static_cast<size_t>(n);
        for (;;) {
            boost::this_thread::interruption_point();
            if (const size_t made = put_in(y, most))
                return static_cast<int>(made);
            try {
                if (const size_t got = fetch(y, most))
                    return static_cast<int>(got);
            } catch (const sound_device_lost& error) {
                lose(error.what());
            }
        }
    }

    audio_source_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    double seconds_since(steady::time_point t) const
    {
        return std::chrono::duration<double>(steady::now() - t).count();
    }

    // Zeros for lost samples, and for the time without a device.
    size_t put_in(float* y, size_t most)
    {
        if (d_away) {
            const auto due = static_cast<uint64_t>(d_rate * seconds_since(d_last));
            d_due += due > d_away_given ? due - d_away_given : 0;
            d_away_given = std::max(due, d_away_given);
        }
        const size_t n = std::min<uint64_t>(most, d_due);
        if (n == 0)
            return 0;
        std::fill_n(y, n, 0.0f);
        add_item_tag(0, nitems_written(0), keys::erased(), pmt::from_uint64(n));
        d_due -= n;
        d_count += n;
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.lost += n;
        return n;
    }

    size_t fetch(float* y, size_t most)
    {
        if (!d_device) {
            reopen();
            return 0;
        }
        // Surplus zeros are compensated by dropping as many samples as they arrive.
        size_t got = d_device->read(y, std::min<uint64_t>(most, max_at_once));
        if (got == 0) {
            d_device->wait(patience_s);
            if (++d_empty * patience_s >= stalled_s &&
                seconds_since(std::max(d_last, d_opened)) > stalled_s)
                throw sound_device_lost("it delivers no samples");
            return 0;
        }
        d_empty = 0;
        if (d_away) {
            d_away = false;
            d_clock.emplace(d_rate); // the time between was counted
            d_count = 0;
            d_begin = steady::now();
        }
        d_last = steady::now();
        const double waiting = d_device->holding();
        const size_t drop = std::min<uint64_t>(d_too_many, got);
        std::copy(y + drop, y + got, y);
        d_too_many -= drop;
        got -= drop;
        d_count += got;
        look(waiting);
        return got;
    }

    // By the clock, samples that still wait in the device have arrived, too.
    void look(double waiting)
    {
        const int64_t lost =
            d_clock->arrived(d_count + d_due + static_cast<uint64_t>(waiting * d_rate),
                             std::chrono::duration<double>(d_last - d_begin).count());
        d_due += static_cast<uint64_t>(std::max<int64_t>(lost, 0));
        d_too_many += static_cast<uint64_t>(std::max<int64_t>(-lost, 0));
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.open = true;
        d_state.overruns = d_overruns + d_device->runs();
        d_state.left_out += static_cast<uint64_t>(std::max<int64_t>(-lost, 0));
        d_state.drift_ppm = d_clock->drift_ppm().value_or(0);
        d_state.waiting_ms = 1e3 * waiting;
    }

    void lose(const char* why)
    {
        if (d_device)
            d_overruns += d_device->runs();
        d_device.reset();
        d_tried = steady::now();
        d_empty = 0;
        if (!d_away) {
            d_away = true;
            d_away_given = 0;
            std::lock_guard<std::mutex> lock(d_mutex);
            ++d_state.outages;
            d_state.open = false;
            d_state.trouble = why;
        }
    }

    void reopen()
    {
        boost::this_thread::sleep_for(
            boost::chrono::milliseconds(static_cast<int>(1e3 * d_options.period_s)));
        if (seconds_since(d_tried) < again_s)
            return;
        d_tried = d_opened = steady::now();
        try {
            d_device.emplace(d_options);
            d_device->start();
        } catch (const std::runtime_error&) {
            d_device.reset();
        }
    }

    static constexpr size_t max_at_once = 8192;
    static constexpr double patience_s = 0.02;
    // PulseAudio takes up to two seconds to begin. A card that is silent for longer is
    // lost.
    static constexpr double stalled_s = 4;
    static constexpr double again_s = 1; // between two attempts to open it again

    const double d_rate;
    sound_options d_options;
    std::optional<sound_device> d_device;
    std::optional<kernel::arrival_clock> d_clock;
    steady::time_point d_begin, d_last, d_opened, d_tried;
    uint64_t d_count = 0;      // output since d_begin, zeros included
    uint64_t d_due = 0;        // zeros still to insert
    uint64_t d_too_many = 0;   // samples still to drop
    bool d_away = false;       // no sample has arrived since the device was lost
    uint64_t d_away_given = 0; // zeros given since the device was lost
    uint64_t d_overruns = 0;   // overruns of earlier devices
    unsigned d_empty = 0;      // empty reads in a row
    mutable std::mutex d_mutex;
    audio_source_state d_state;
};

} // namespace

audio_source::sptr audio_source::make(const std::string& device, int audio_rate)
{
    return gnuradio::make_block_sptr<audio_source_impl>(device, audio_rate);
}

} // namespace gr::hf
