/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

struct _snd_pcm;

namespace gr::hf {

//! The device is lost (unplugged, its server ended, or it moves no samples any more).
class sound_device_lost : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

//! Options for opening a sound device.
struct sound_options {
    std::string name;       //!< ALSA name; empty: the default device
    bool playback = false;  //!< false: capture
    unsigned rate = 48000;  //!< samples/s
    unsigned channels = 1;  //!< samples in each frame
    double period_s = 0.01; //!< the device transfers about this much at once
    double capacity_s = 1;  //!< size of its buffer, or the nearest that it can do
    double start_s = 0.1;   //!< playback begins when this much has been written
};

/*! \brief One direction of a sound device of ALSA: a card, or a device of PulseAudio,
 *         PipeWire or JACK by ALSA's plugins.
 *
 * Never waits except in wait(). Overruns of capture and underruns of playback are
 * counted, and the stream goes on. Belongs to one thread at a time.
 */
class sound_device
{
public:
    /*! \brief Open the device. Capture begins with start().
     *  \throws std::runtime_error with the sound system's error
     */
    explicit sound_device(const sound_options& options);
    ~sound_device();
    sound_device(const sound_device&) = delete;
    sound_device& operator=(const sound_device&) = delete;

    /*! \brief Begin to capture; playback begins by itself.
     *  \throws sound_device_lost
     */
    void start();
    /*! \brief Take captured samples.
     *  \returns frames, 0 when none has arrived
     *  \throws sound_device_lost
     */
    size_t read(float* frames, size_t most);
    /*! \brief Give frames to be played.
     *  \returns frames accepted, 0 while the device is full
     *  \throws sound_device_lost
     */
    size_t write(const float* frames, size_t count);
    /*! \brief Wait until the device can be read or written, at most \p s seconds.
     *  \throws sound_device_lost
     */
    void wait(double s);
    /*! \brief Captured and not read yet; or written and still in the buffer, s.
     *  \throws sound_device_lost
     */
    double holding();
    //! Overruns or underruns since it was opened.
    uint64_t runs() const { return d_runs; }

private:
    void open();
    void configure();
    bool recovered(long error);

    sound_options d_options;
    _snd_pcm* d_pcm = nullptr;
    bool d_floats = true;       // false: 16 bits
    unsigned long d_buffer = 0; // frames
    uint64_t d_runs = 0;
    std::vector<int16_t> d_short;
};

} // namespace gr::hf
