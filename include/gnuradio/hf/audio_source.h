/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

//! What a capture device has done.
struct audio_source_state {
    bool open = true;      //!< the device is there
    uint64_t outages = 0;  //!< times that it was gone
    uint64_t overruns = 0; //!< times that the sound system dropped samples and said so
    uint64_t lost = 0;     //!< samples that never came and that zeros stand for
    uint64_t left_out = 0; //!< samples left out again because they came after all
    double drift_ppm = 0;  //!< its clock is faster than the host's; 0: not known yet
    double waiting_ms = 0; //!< captured and not fetched yet, when fetched last
    std::string trouble;   //!< why it was gone last
};

/*! \brief Samples of a sound device, without a gap: station time is their count.
 *  \ingroup hf
 *
 * Output: one stream of real samples, full scale 1. What the sound system loses is found by the
 * host's clock within some seconds, and zeros are put in its place; while the device is gone zeros
 * come at the host's pace, and it is opened again as soon as it is back. Zeros that stand for
 * lost samples carry the tag \c erased, whose value is how many follow.
 *
 * A second of samples waits in the device for a host that is busy, so that a stall costs delay and
 * no samples.
 */
class HF_API audio_source : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<audio_source> sptr; //!< how flowgraphs hold it
    /*! \param device name of ALSA; empty: the default device
     *  \param audio_rate samples/s, 8000 to 192000
     *  \throws std::invalid_argument
     *  \throws std::runtime_error if it cannot be opened
     */
    static sptr make(const std::string& device = "", int audio_rate = 48000);

    //! A snapshot; may be called from any thread.
    virtual audio_source_state state() const = 0;
};

} // namespace gr::hf
