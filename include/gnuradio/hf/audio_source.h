/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

//! State and counters of a capture device.
struct audio_source_state {
    bool open = true;      //!< the device is open
    uint64_t outages = 0;  //!< times that the device was lost
    uint64_t overruns = 0; //!< times that the sound system dropped samples and reported
                           //!< it
    uint64_t lost = 0;     //!< samples that never arrived and were replaced by zeros
    uint64_t left_out = 0; //!< samples left out again because they arrived after all
    double drift_ppm = 0;  //!< how much faster its clock is than the host's; 0: not known
                           //!< yet
    double waiting_ms = 0; //!< captured and not fetched yet, at the last fetch
    std::string trouble;   //!< why it was lost last
};

/*! \brief Samples of a sound device without a gap. Their count is station time.
 *  \ingroup hf
 *
 * Output: one stream of real samples, full scale 1. Samples that the sound system loses
 * are found by the host's clock within some seconds and replaced by zeros. While the
 * device is lost, zeros come at the host's pace. The device is opened again as soon as it
 * is back. Zeros that replace lost samples carry the tag \c erased, whose value is how
 * many follow.
 *
 * The device buffers one second of samples for a host that is busy, so that a stall costs
 * delay and no samples.
 */
class HF_API audio_source : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<audio_source> sptr; //!< pointer type for flowgraphs
    /*! \param device ALSA name; empty: the default device
     *  \param audio_rate samples/s, 8000 to 192000
     *  \throws std::invalid_argument
     *  \throws std::runtime_error if the device cannot be opened
     */
    static sptr make(const std::string& device = "", int audio_rate = 48000);

    //! A snapshot; may be called from any thread.
    virtual audio_source_state state() const = 0;
};

} // namespace gr::hf
