/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Receiver that finds every transmission by itself, in any mode.
 *  \ingroup hf
 *
 * Input: complex baseband, 3200 samples/s for each kHz of bandwidth (9600 in 3 kHz), the
 * subcarrier at 0 Hz; a second antenna (or receiver) has a second input with the same
 * timing. Both are decoded together. Message ports (out):
 *
 *  - \c pdus: one PDU for each transmission, when it has ended: its octets, and mode,
 *    snr_db, freq_offset_hz, start_sample, end_sample, reason (eom, lost, limit,
 *    preempted), joined (true: without its preamble, from the start of a block on), and if
 *    a block was decoded, reading (of the standard: standard or reversed).
 *  - \c events: events as they happen: type rx_start, rx_octets (the octets of one
 *    interleaver block), rx_end, with the same keys. From the first decoded block on they
 *    describe the channel during the block: quality, doppler_hz (two-sigma spread),
 *    delay_spread_ms (two standard deviations), coded_ber (share of coded bits that the
 *    decoder corrected), profile (f32vector: share of power at each delay, steps of half
 *    a symbol: 1/4800 s in 3 kHz).
 *  - \c blocks: for displays, a PDU for each decoded interleaver block. Its data are the
 *    equalised symbols (c32vector; PSK without scrambling; none at 75 bit/s). Of more
 *    than 2048 symbols it holds every second, third, ... Keys: now (start of the block),
 *    mode, snr_db, quality, freq_offset_hz, doppler_hz, delay_spread_ms, coded_ber,
 *    profile, and taps (c32vector, of the last frame, at the delays of profile). It costs
 *    nothing while it is not connected.
 *
 * A transmission of more than 16 MiB is delivered in several PDUs.
 */
class HF_API rx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<rx> sptr; //!< pointer type for flowgraphs
    /*! \param zero_interleaver the short interleaver of the serial tone is received as
     *         zero interleaver
     *  \param max_blocks blocks after which the receiver returns to acquisition, 0 or
     *         more; 0: no limit
     *  \param effort effort of equalising and decoding: 0 once, 1 iterating (the
     *         default), 2 more often
     *  \param bandwidth bandwidth in which the receiver listens, kHz, as of hf.modem
     *  \param antennas inputs, 1 or 2
     *  \param join join transmissions of 5069 whose preamble was missed, at the start of
     *         a Long block. The mode is found by what can be decoded
     *  \throws std::invalid_argument
     */
    static sptr make(bool zero_interleaver = false,
                     uint64_t max_blocks = 0,
                     int effort = 1,
                     int bandwidth = 3,
                     int antennas = 1,
                     bool join = true);

    //! Transmissions recognised since the start.
    virtual uint64_t receptions() const = 0;
};

} // namespace gr::hf
