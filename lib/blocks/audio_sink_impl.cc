/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/pdu.h"
#include "blocks/sound_checks.h"
#include "edges/sound_device.h"
#include "radio/buffer_target.h"
#include "radio/playback_watch.h"

#include <gnuradio/io_signature.h>
#include <hf/audio_sink.h>

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

namespace gr::hf {
namespace {

using steady = std::chrono::steady_clock;

unsigned checked_channels(int channels)
{
    check_sound("channels", channels, 1, 2);
    return static_cast<unsigned>(channels);
}

class audio_sink_impl : public audio_sink
{
public:
    audio_sink_impl(const std::string& device,
                    int audio_rate,
                    double buffer_s,
                    int channels)
        : gr::sync_block("hf_audio_sink",
                         gr::io_signature::make(channels, channels, sizeof(float)),
                         gr::io_signature::make(0, 0, 0)),
          d_rate(checked_sound_rate(audio_rate)), d_channels(checked_channels(channels)),
          d_target(buffer_s), d_watch(d_rate, d_options.period_s)
    {
        check_sound("buffer_s", buffer_s, min_s, max_s);
        d_state.wanted_ms = 1e3 * buffer_s;
        d_options.name = device;
        d_options.playback = true;
        d_options.rate = static_cast<unsigned>(audio_rate);
        d_options.channels = d_channels;
        d_options.start_s = buffer_s;
        d_options.capacity_s = 1 + max_s;
        d_device.emplace(d_options);
        message_port_register_out(pmt::mp("held"));
        message_port_register_out(pmt::mp("key"));
    }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        const auto frames = static_cast<size_t>(n);
        const auto* x = static_cast<const float*>(in[0]);
        if (d_channels > 1) {
            d_frames.resize(frames * d_channels);
            for (size_t c = 0; c < d_channels; ++c)
                for (size_t k = 0; k < frames; ++k)
                    d_frames[k * d_channels + c] = static_cast<const float*>(in[c])[k];
            x = d_frames.data();
        }
        try {
            if (!d_device && !reopen())
                drop(frames);
            else
                write(x, frames);
        } catch (const sound_device_lost& error) {
            lose(error.what());
        }
        return n;
    }

    audio_sink_state state() const override
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        return d_state;
    }

private:
    void write(const float* x, size_t frames)
    {
        if (!moving() && silence(x, frames * d_channels))
            return;
        size_t done = 0;
        const auto begin = steady::now();
        auto since = begin;
        unsigned full = 0;
        bool reported = false;
        while (done < frames) {
            boost::this_thread::interruption_point();
            const auto now = steady::now();
            const size_t took = d_device->write(x + done * d_channels, frames - done);
            const bool empty = d_device->runs() > d_runs; // any call may have counted an
                                                          // underrun
            if (empty)
                ran_empty(now);
            reported = reported || empty;
            done += took;
            if (took > 0) {
                full = 0;
                since = now;
            } else if (!empty) {
                d_device->wait(patience_s);
                if (++full * patience_s >= stalled_s &&
                    now - since > std::chrono::duration<double>(stalled_s))
                    throw sound_device_lost("it takes no samples");
            }
        }
        d_given += frames;
        const double held = d_device->holding();
        const auto now = steady::now();
        if (!reported && d_moving && d_device->runs() == d_runs)
            look_for_holes(held, begin, now);
        d_empty_at = now + duration(held);
        d_target.at(seconds_of(now));
        tell_held(held, now);
        std::lock_guard<std::mutex> lock(d_mutex);
        tell_target();
        d_state.open = true;
        d_state.held_ms = 1e3 * held;
        d_state.taken += frames;
    }

    void tell_held(double held, steady::time_point now)
    {
        message_port_pub(pmt::mp("held"),
                         pdu::builder("held")
                             .set(keys::held_s(), held)
                             .set(keys::host_s(), seconds_of(now))
                             .set(keys::wanted_s(), d_target.wanted_s())
                             .set(keys::gaps(), d_gaps)
                             .make());
    }

    // A sound server may take seconds until it begins to play. Silence inserted meanwhile
    // would delay all later samples.
    bool moving()
    {
        if (!d_moving) {
            const double given = static_cast<double>(d_given) / d_rate;
            if (given < d_options.start_s)
                return true; // it waits for start_s
            d_moving = d_device->holding() < given;
        }
        return d_moving;
    }

    static bool silence(const float* x, size_t n)
    {
        return std::all_of(
            x, x + n, [](float v) { return v == 0; });
    }

    // The device played silence without reporting it. It will still play what it holds
    // now.
    void look_for_holes(double held, steady::time_point begin, steady::time_point now)
    {
        const auto hole =
            d_watch.wrote(d_given, held, seconds_of(begin), seconds_of(now));
        if (!hole)
            return;
        // The clock finds a hole seconds later. An earlier transmission suffered, not
        // this one.
        if (hole.lacked_s > 0) {
            ++d_gaps;
            d_known_until = now + duration(std::max(held, d_options.start_s));
        }
        std::lock_guard<std::mutex> lock(d_mutex);
        ++d_state.underruns;
        d_state.silent_ms += 1e3 * hole.silent_s;
        d_target.lacked(hole.lacked_s, seconds_of(now));
        if (hole.lacked_s > 0) { // it waits until it holds the initial amount
            d_moving = false;
            d_given = static_cast<uint64_t>(std::lround(held * d_rate));
        }
    }

    static steady::duration duration(double s)
    {
        return std::chrono::duration_cast<steady::duration>(
            std::chrono::duration<double>(s));
    }

    static double seconds_of(steady::time_point t)
    {
        return std::chrono::duration<double>(t.time_since_epoch()).count();
    }

    void tell_target()
    {
        d_state.wanted_ms = 1e3 * d_target.wanted_s();
        d_state.added_ms = 1e3 * d_target.added_s();
    }

    void ran_empty(steady::time_point now)
    {
        d_moving = false;
        d_given = 0;
        d_watch.restart();
        const uint64_t reported = d_device->runs() - d_runs;
        d_runs = d_device->runs();
        if (reported == 1 && now < d_known_until)
            return; // a late report of the hole that the clock revealed
        ++d_gaps;
        std::lock_guard<std::mutex> lock(d_mutex);
        d_state.underruns += reported;
        if (!d_empty_at || now <= *d_empty_at)
            return;
        const double silent = std::chrono::duration<double>(now - *d_empty_at).count();
        d_state.silent_ms += 1e3 * silent;
        d_target.lacked(silent, seconds_of(now));
    }

    void lose(const char* why)
    {
        d_device.reset();
        d_runs = 0;
        d_watch.restart();
        d_empty_at.reset();
        d_known_until = {};
        d_moving = false;
        d_given = 0;
        d_tried = steady::now();
        message_port_pub(pmt::mp("key"),
                         pdu::builder("key").set(keys::down(), false).make());
        ++d_gaps;
        message_port_pub(pmt::mp("held"),
                         pdu::builder("held").set(keys::gaps(), d_gaps).make());
        std::lock_guard<std::mutex> lock(d_mutex);
        ++d_state.outages;
        d_state.open = false;
        d_state.held_ms = 0;
        d_state.trouble = why;
    }

    bool reopen()
    {
        if (steady::now() - d_tried < std::chrono::duration<double>(again_s))
            return false;
        d_tried = steady::now();
        try {
            d_device.emplace(d_options);
        } catch (const std::runtime_error&) {
        }
        return d_device.has_value();
    }

    // Drop at playback pace. The producer may have no other pace.
    void drop(size_t frames)
    {
        boost::this_thread::sleep_for(boost::chrono::microseconds(
            static_cast<int64_t>(1e6 * static_cast<double>(frames) / d_rate)));
    }

    static constexpr double min_s = 0.02; // smallest amount to hold
    static constexpr double max_s = kernel::buffer_target::max_s;
    static constexpr double patience_s = 0.02;
    static constexpr double stalled_s = 4; // a card that accepts nothing for this long is
                                           // lost
    static constexpr double again_s = 1;   // between two attempts to open it again

    const double d_rate;
    const unsigned d_channels;
    sound_options d_options;
    kernel::buffer_target d_target;
    std::optional<sound_device> d_device;
    kernel::playback_watch d_watch;
    std::optional<steady::time_point> d_empty_at; // if nothing more is written
    steady::time_point d_known_until;             // it cannot run empty again before
    steady::time_point d_tried;
    uint64_t d_runs = 0;   // device runs seen
    uint64_t d_gaps = 0;   // times that it ran empty or was lost
    uint64_t d_given = 0;  // samples written since it was opened or ran empty
    bool d_moving = false; // it has played some samples
    std::vector<float> d_frames;
    mutable std::mutex d_mutex;
    audio_sink_state d_state;
};

} // namespace

audio_sink::sptr
audio_sink::make(const std::string& device, int audio_rate, double buffer_s, int channels)
{
    checked_channels(channels); // before the signature, whose complaint is less clear
    return gnuradio::make_block_sptr<audio_sink_impl>(
        device, audio_rate, buffer_s, channels);
}

} // namespace gr::hf
