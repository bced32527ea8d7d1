/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/sound_device.h"

#include "edges/alsa_calls.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

namespace gr::hf {
namespace {

// Numbers of ALSA's enumerations.
constexpr int stream_playback = 0, stream_capture = 1;
constexpr int mode_without_waiting = 1;
constexpr int access_interleaved = 3;
constexpr int format_16_bits = 2, format_float = 14; // little endian

constexpr float full_scale = 32768;

void check(int result, const char* what)
{
    if (result < 0)
        throw std::runtime_error(std::string(what) + ": " + snd_strerror(result));
}

[[noreturn]] void throw_lost(const char* what, long error)
{
    throw sound_device_lost(std::string(what) + ": " +
                            snd_strerror(static_cast<int>(error)));
}

using hw_params = std::unique_ptr<_snd_pcm_hw_params, decltype(&snd_pcm_hw_params_free)>;
using sw_params = std::unique_ptr<_snd_pcm_sw_params, decltype(&snd_pcm_sw_params_free)>;

hw_params new_hw_params()
{
    _snd_pcm_hw_params* p = nullptr;
    check(snd_pcm_hw_params_malloc(&p), "memory");
    return { p, snd_pcm_hw_params_free };
}

sw_params new_sw_params()
{
    _snd_pcm_sw_params* p = nullptr;
    check(snd_pcm_sw_params_malloc(&p), "memory");
    return { p, snd_pcm_sw_params_free };
}

// Errors are thrown, counted and reported by us. The library would print them as well.
void say_nothing(const char*, int, const char*, int, const char*, ...) {}

} // namespace

sound_device::sound_device(const sound_options& options) : d_options(options)
{
    snd_lib_error_set_handler(say_nothing);
    try {
        open();
    } catch (...) {
        if (d_pcm)
            snd_pcm_close(d_pcm);
        throw;
    }
}

sound_device::~sound_device() { snd_pcm_close(d_pcm); }

void sound_device::open()
{
    const char* name = d_options.name.empty() ? "default" : d_options.name.c_str();
    // If another program holds the device, fail at once instead of waiting forever.
    check(snd_pcm_open(&d_pcm,
                       name,
                       d_options.playback ? stream_playback : stream_capture,
                       mode_without_waiting),
          "open");
    configure();
    check(snd_pcm_prepare(d_pcm), "prepare");
}

void sound_device::start()
{
    if (d_options.playback)
        return;
    const int result = snd_pcm_start(d_pcm);
    if (result < 0 && !recovered(result))
        throw_lost("start", result);
}

void sound_device::configure()
{
    const auto hw = new_hw_params();
    check(snd_pcm_hw_params_any(d_pcm, hw.get()), "parameters");
    check(snd_pcm_hw_params_set_access(d_pcm, hw.get(), access_interleaved), "access");
    d_floats = snd_pcm_hw_params_set_format(d_pcm, hw.get(), format_float) >= 0;
    if (!d_floats)
        check(snd_pcm_hw_params_set_format(d_pcm, hw.get(), format_16_bits),
              "neither float nor 16 bits (a name with plughw: converts)");
    check(snd_pcm_hw_params_set_channels(d_pcm, hw.get(), d_options.channels),
          "channels (a name with plughw: converts)");
    check(snd_pcm_hw_params_set_rate(d_pcm, hw.get(), d_options.rate, 0),
          "sample rate (a name with plughw: converts)");
    const auto us = [](double s) { return static_cast<unsigned>(std::lround(1e6 * s)); };
    unsigned period = us(d_options.period_s), buffer = us(d_options.capacity_s);
    check(snd_pcm_hw_params_set_period_time_near(d_pcm, hw.get(), &period, nullptr),
          "period");
    check(snd_pcm_hw_params_set_buffer_time_near(d_pcm, hw.get(), &buffer, nullptr),
          "buffer");
    check(snd_pcm_hw_params(d_pcm, hw.get()), "parameters");
    check(snd_pcm_hw_params_get_buffer_size(hw.get(), &d_buffer), "buffer");

    const auto sw = new_sw_params();
    check(snd_pcm_sw_params_current(d_pcm, sw.get()), "parameters");
    const auto start =
        static_cast<unsigned long>(std::lround(d_options.start_s * d_options.rate));
    check(snd_pcm_sw_params_set_start_threshold(
              d_pcm, sw.get(), std::clamp<unsigned long>(start, 1, d_buffer)),
          "start");
    check(snd_pcm_sw_params(d_pcm, sw.get()), "parameters");
}

// Whether the stream goes on after this return value.
bool sound_device::recovered(long error)
{
    if (error == -EAGAIN || error == -EINTR)
        return true;
    if (error == -ESTRPIPE) { // the machine was suspended
        const int resumed = snd_pcm_resume(d_pcm);
        if (resumed == 0 || resumed == -EAGAIN)
            return true;
        error = -EPIPE;
    }
    if (error != -EPIPE)
        return false;
    ++d_runs;
    return snd_pcm_prepare(d_pcm) >= 0 &&
           (d_options.playback || snd_pcm_start(d_pcm) >= 0);
}

size_t sound_device::read(float* frames, size_t most)
{
    const size_t channels = d_options.channels;
    if (!d_floats)
        d_short.resize(most * channels);
    const long got = d_floats ? snd_pcm_readi(d_pcm, frames, most)
                              : snd_pcm_readi(d_pcm, d_short.data(), most);
    if (got < 0) {
        if (!recovered(got))
            throw_lost("read", got);
        return 0;
    }
    if (!d_floats)
        std::transform(d_short.begin(),
                       d_short.begin() + got * static_cast<long>(channels),
                       frames,
                       [](int16_t x) { return static_cast<float>(x) / full_scale; });
    return static_cast<size_t>(got);
}

size_t sound_device::write(const float* frames, size_t count)
{
    if (!d_floats) {
        d_short.resize(count * d_options.channels);
        std::transform(frames, frames + d_short.size(), d_short.begin(), [](float x) {
            return static_cast<int16_t>(
                std::lround(std::clamp(x * full_scale, -full_scale, full_scale - 1)));
        });
    }
    const long took = d_floats ? snd_pcm_writei(d_pcm, frames, count)
                               : snd_pcm_writei(d_pcm, d_short.data(), count);
    if (took < 0) {
        if (!recovered(took))
            throw_lost("write", took);
        return 0;
    }
    return static_cast<size_t>(took);
}

void sound_device::wait(double s)
{
    const int result = snd_pcm_wait(d_pcm, static_cast<int>(std::ceil(1e3 * s)));
    if (result < 0 && !recovered(result))
        throw_lost("wait", result);
}

double sound_device::holding()
{
    const long free = snd_pcm_avail(d_pcm);
    if (free < 0) {
        if (!recovered(free))
            throw_lost("room", free);
        return 0;
    }
    // snd_pcm_delay() would add the delay after the buffer. But in the first two seconds
    // PulseAudio's plugin knows neither that delay nor the rest.
    const long held = d_options.playback ? static_cast<long>(d_buffer) - free : free;
    return static_cast<double>(std::max(held, 0L)) / d_options.rate;
}

} // namespace gr::hf
