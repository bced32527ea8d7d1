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

//! The device is gone (unplugged, its server ended, or it moves no samples any more).
class sound_device_lost : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

//! How a sound device is opened.
struct sound_options {
    std::string name;       //!< of ALSA; empty: the default device
    bool playback = false;  //!< else capture
    unsigned rate = 48000;  //!< samples/s
    unsigned channels = 1;  //!< samples of a frame
    double period_s = 0.01; //!< the device takes or gives about so much at once
    double capacity_s = 1;  //!< of its buffer, as near as it can
    double start_s = 0.1;   //!< playback begins when so much has been written
};

/*! \brief One direction of a sound device of ALSA: a card, or a device of PulseAudio, PipeWire
 *         or JACK by ALSA's plugins.
 *
 * Never waits except in wait(). What the sound system cuts off (an overrun of capture, an underrun of
 * playback) is counted, and the stream goes on. Belongs to one thread at a time.
 */
class sound_device
{
public:
    /*! \brief Open it; capture begins with start().
     *  \throws std::runtime_error that says what the sound system said
     */
    explicit sound_device(const sound_options& options);
    ~sound_device();
    sound_device(const sound_device&) = delete;
    sound_device& operator=(const sound_device&) = delete;

    /*! \brief Begin to capture; playback begins by itself.
     *  \throws sound_device_lost
     */
    void start();
    /*! \brief Take what was captured.
     *  \returns frames, 0 when none has come
     *  \throws sound_device_lost
     */
    size_t read(float* frames, size_t most);
    /*! \brief Give frames to be played.
     *  \returns how many it took, 0 while it is full
     *  \throws sound_device_lost
     */
    size_t write(const float* frames, size_t count);
    /*! \brief Until it can be read or written, at the most so long, s.
     *  \throws sound_device_lost
     */
    void wait(double s);
    /*! \brief Captured and not read yet; or written and not yet taken out of its buffer, s.
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
    bool d_floats = true;       // else 16 bits
    unsigned long d_buffer = 0; // frames
    uint64_t d_runs = 0;
    std::vector<int16_t> d_short;
};

} // namespace gr::hf
