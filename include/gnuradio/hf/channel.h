/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Simulated HF channel: multipath, Watterson fading, frequency and clock offset,
 *         noise, impulses, interferers, level.
 *  \ingroup hf
 *
 * \p spec is a list of words separated by spaces:
 *
 *     clear                     samples pass unchanged
 *     awgn                      one static path
 *     good moderate poor flutter   ITU-R F.520: two equal Rayleigh paths
 *     low-quiet low-moderate low-disturbed mid-quiet ... high-disturbed nvis   ITU-R F.1487
 *     paths=D:G:S,D:G:S         explicit: delay ms, gain dB, Doppler spread Hz (two sigma),
 *                               and optionally :shift Hz:phase degrees
 *     learned=FILE              paths from a channel file, which hf channel --learn writes
 *     snr=DB                    white noise; SNR for signals of mean power \p signal_power
 *     bandwidth=KHZ             in which snr= counts, 3 unless given (hf.air: its own)
 *     offset=HZ drift=HZ/S sweep=HZ/S   frequency offset, its rate, triangle sweep
 *     clock=PPM                 how much faster the sender's sample clock runs
 *     impulses=RATE:DB[:MS]     bursts of noise per second, against \p signal_power
 *     carriers=HZ:DB[:HZ/S],... interferers, against \p signal_power; they may move
 *     morse=HZ:DB[:WPM]         keyed interferer
 *     rtty=HZ:DB[:BAUD:SHIFT]   radio teletype, 45.45 baud and 170 Hz unless given
 *     filter=KIND:LOW:HIGH      the radio's filter: fir, butterworth, elliptic, edges in Hz
 *     gain=DB step=DB:S agc=S   level; level that steps every S seconds; gain control
 *
 * Equal seeds give equal samples.
 */
class HF_API channel : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<channel> sptr; //!< pointer type for flowgraphs
    /*! \param spec the words above
     *  \param seed seed of noise and fading, from 0 on: equal seeds give equal noise
     *  \param signal_power mean power of the signal, the reference of snr= and other
     *         levels, above 0: 1 for PSK modes, mode.mean_power for others
     *  \param sample_rate samples/s, 2000 to 1e7
     *  \throws std::invalid_argument that names the wrong word and what is allowed
     */
    static sptr make(const std::string& spec,
                     uint64_t seed = 1,
                     double signal_power = 1,
                     double sample_rate = 9600);

    //! Another channel from now on. Fading and noise start from the seed. Any thread may
    //! call it. \throws std::invalid_argument as make(); the channel stays as it was
    virtual void set_spec(const std::string& spec) = 0;
};

} // namespace gr::hf
