/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! Levels and losses of an SDR's samples, for meters.
struct from_sdr_state {
    double peak_db = -200; //!< highest I or Q of the last second, dB below full scale
    double rms_db = -200;  //!< mean power of the last second, dB below full scale
    uint64_t clipped = 0;  //!< I or Q at full scale or above, since the start
    uint64_t lost = 0;     //!< samples that the device lost and that zeros replace
    uint64_t gaps = 0;     //!< times that the device lost samples
    uint64_t repeated = 0; //!< samples that arrived twice and were left out
    double silent_s = 0;   //!< how long all samples have had one value: the device is
                           //!< deaf
    double drift_ppm =
        0; //!< how much faster the device's clock is than the host's; 0: not known yet
    bool timed = false; //!< the device reports the time of its samples
};

/*! \brief Samples of an SDR to complex baseband for hf.modem or hf.rx.
 *  \ingroup hf
 *
 * Input: complex samples, full scale 1, with a tag rx_time at the first one and after
 * each gap, as a USRP Source or hf.soapy_source gives them. Output: complex baseband at
 * 3200 samples/s for each kHz of bandwidth. Output sample 0 lies at input sample 0.
 *
 * The count of samples stays station time. Samples that the device lost, by rx_time, are
 * replaced by zeros with the tag \c erased (how many follow), which hf.modem treats as
 * erasures. A device that reports no time is watched by the host's clock. Zeros that
 * hf.soapy_source gives while its device is lost are tagged as well. The next rx_time
 * after them is that of a restarted clock.
 *
 * Message port \c time (out): a PDU of type time for hf.to_sdr, at the start and whenever
 * the device's time was set again. Keys seconds and fraction are the device's clock at
 * sample 0. Both are missing while the device is lost. Message port \c events (out): PDUs
 * of type gap (now, lost: samples of the input).
 */
class HF_API from_sdr : virtual public gr::block
{
public:
    typedef std::shared_ptr<from_sdr> sptr; //!< pointer type for flowgraphs
    /*! \param device_rate samples/s of the input, modem_rate to 2000000
     *  \param modem_rate samples/s of the output, 9600 (for 3 kHz) to 153600
     *  \throws std::invalid_argument
     */
    static sptr make(double device_rate = 48000, double modem_rate = 9600);

    //! A snapshot; may be called from any thread.
    virtual from_sdr_state state() const = 0;
};

} // namespace gr::hf
