/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>

namespace gr::hf {

//! What an SDR's samples have been like, for meters.
struct from_sdr_state {
    double peak_db = -200; //!< highest I or Q of the last second, dB below full scale
    double rms_db = -200;  //!< mean power of the last second, dB below full scale
    uint64_t clipped = 0;  //!< I or Q at full scale or above, since the start
    uint64_t lost = 0;     //!< samples that the device lost and that zeros stand for
    uint64_t gaps = 0;     //!< how often it lost some
    uint64_t repeated = 0; //!< samples that came twice and were left out
    double silent_s = 0;   //!< so long nothing but one value has come: the device is deaf
    double drift_ppm =
        0; //!< the device's clock is faster than the host's; 0: not known yet
    bool timed = false; //!< the device tells the time of its samples
};

/*! \brief Samples of an SDR to complex baseband for hf.modem or hf.rx.
 *  \ingroup hf
 *
 * Input: complex samples, full scale 1, with tags rx_time at the first one and behind each
 * gap, as a USRP Source or hf.soapy_source gives them. Output: complex baseband at 3200
 * samples/s for each kHz of bandwidth; output sample 0 lies at input sample 0.
 *
 * The count of samples stays station time: for what the device has lost, by rx_time, zeros
 * are put in, tagged \c erased (how many follow), which hf.modem takes as erasures. A device
 * that tells no time is watched by the host's clock. Zeros that hf.soapy_source gives while its
 * device is lost are tagged as well, and the next rx_time behind them is that of a clock anew.
 *
 * Message port \c time (out): a PDU of type time (seconds, fraction: of the device's clock at
 * sample 0) at the beginning, and whenever the device's time was set anew, for hf.to_sdr; without
 * these two as long as the device is lost.
 * Message port \c events (out): PDUs of type gap (now, lost: samples of the input).
 */
class HF_API from_sdr : virtual public gr::block
{
public:
    typedef std::shared_ptr<from_sdr> sptr; //!< how flowgraphs hold it
    /*! \param device_rate samples/s of the input, modem_rate to 2000000
     *  \param modem_rate samples/s of the output, 9600 (for 3 kHz) to 153600
     *  \throws std::invalid_argument
     */
    static sptr make(double device_rate = 48000, double modem_rate = 9600);

    //! A snapshot; may be called from any thread.
    virtual from_sdr_state state() const = 0;
};

} // namespace gr::hf
