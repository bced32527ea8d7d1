/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Receiver: finds every transmission by itself, whatever its mode.
 *  \ingroup hf
 *
 * Input: complex baseband, 3200 samples/s for each kHz of bandwidth (9600 in 3 kHz), the
 * subcarrier at 0 Hz; with two antennas (or receivers) a second one of the same time: what both
 * hear is decoded together. Message ports (out):
 *
 *  - \c pdus: one PDU for each transmission, when it has ended: its octets, and mode,
 *    snr_db, freq_offset_hz, start_sample, end_sample, reason (eom, lost, limit), joined (true: without
 *    its preamble, from the begin of a block on).
 *  - \c events: what happens as it happens: type rx_start, rx_octets (the octets of one
 *    interleaver block), rx_end; same keys, and from the first decoded block on what the
 *    channel was during the block: quality, doppler_hz (two-sigma spread), delay_spread_ms
 *    (two standard deviations), coded_ber (share of coded bits that the decoder corrected),
 *    profile (f32vector: share of power at each delay, steps of half a symbol: 1/4800 s in
 *    3 kHz).
 *  - \c blocks: for displays, a PDU for each decoded interleaver block, whose data are its
 *    equalised symbols (c32vector; PSK without scrambling; none at 75 bit/s; of more than 2048
 *    every second, third, ...). Keys: now (of the block's begin), mode, snr_db, quality,
 *    freq_offset_hz, doppler_hz, delay_spread_ms, coded_ber, profile, and taps (c32vector, of
 *    the last frame, at the delays of profile). Costs nothing while nothing is connected.
 *
 * A transmission of more than 16 MiB is delivered in pieces.
 */
class HF_API rx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<rx> sptr; //!< how flowgraphs hold it
    /*! \param zero_interleaver what the serial tone calls short interleaver is received as
     *         zero interleaver
     *  \param max_blocks return to acquisition after so many blocks, 0 or more; 0: no limit
     *  \param effort of equalising and decoding: 0 once, 1 iterating (the default), 2 more
     *         often
     *  \param bandwidth in which it listens, kHz, as of hf.modem
     *  \param antennas inputs, 1 or 2
     *  \param join join transmissions of 5069 whose preamble was missed, at the begin of a Long
     *         block, their mode found by what can be decoded
     *  \throws std::invalid_argument
     */
    static sptr make(bool zero_interleaver = false,
                     uint64_t max_blocks = 0,
                     int effort = 1,
                     int bandwidth = 3,
                     int antennas = 1,
                     bool join = true);

    //! Transmissions that were recognised.
    virtual uint64_t receptions() const = 0;
};

} // namespace gr::hf
