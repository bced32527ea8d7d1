/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/message_parser.h"
#include "modem/track/burst_tracker.h"
#include "waveform/description.h"

#include <hf/modem_user.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The message of one transmission: counts its blocks and bits, and turns decoded
 *         bits into octets up to the end-of-message marker.
 */
class incoming_message
{
public:
    /*! \param d the description must outlive the message
     *  \param snr_db of the acquisition, until a block is decoded
     */
    incoming_message(const description& d, double snr_db) : d_waveform(&d), d_snr(snr_db)
    {
    }

    const description& waveform() const { return *d_waveform; }
    //! Number of the next block.
    uint64_t block() const { return d_block; }
    //! First symbol of the next block.
    int64_t next_begin() const
    {
        return static_cast<int64_t>(d_waveform->block_begin(d_block));
    }
    //! The message seems to have ended with a damaged marker, in the block that ends at
    //! symbol suspected_end().
    bool suspicious() const { return d_parser.suspicious(); }
    int64_t suspected_end() const { return d_suspected_end; }

    /*! \brief Take the next block.
     *  \param sound false: the message is suspicious, and no signal has proved since that it
     *               goes on
     *  \param e     gets its octets, SNR, quality, Doppler spread and ratios
     *  \returns     message bits up to the end of the marker, if it is there
     */
    std::optional<uint64_t> take(const received_block& b, bool sound, rx_octets& e);

    //! Add the octets that the parser still holds: nothing follows.
    void flush(std::vector<uint8_t>& octets) { d_parser.flush(octets); }
    //! The same without a marker. Returns the place of a damaged one.
    std::optional<uint64_t> finish(std::vector<uint8_t>& octets)
    {
        return d_parser.finish(octets);
    }

    //! Octets that are no reception, but take the place of one: with the last SNR and no
    //! quality.
    rx_octets substitute() const;

    //! Blocks from the last one back are decoded again.
    void step_back() { --d_block; }
    /*! \brief Go on with block \p block after a hole in the samples. Ones take the place of
     *         missing bits: a CRC of zeros over zeros would be good in D_PDUs.
     *  \param dropped bits before it that the user did not get
     *  \returns       the octets of these ones
     */
    rx_octets go_on_at(uint64_t block, uint64_t dropped);

    //! Symbol after the block with the last flush bit. \param marker see take()
    int64_t end_of(uint64_t marker) const;

private:
    void keep_ratios(const std::vector<float>& pairs);
    void give_ratios(rx_octets& e);

    const description* d_waveform;
    message_parser d_parser;
    uint64_t d_block = 0;
    uint64_t d_position = 0;      // in the message: of the bit that the parser gets next
    uint64_t d_repeated_bits = 0; // that it got beyond that
    int64_t d_suspected_end = 0;  // of the block with the first sign of a damaged marker
    uint64_t d_octets = 0;        // that the parser has returned
    // Ratios of blocks that had no whole octet yet, and the bit that the parser gets when
    // it gets the first of them.
    std::vector<int8_t> d_ratios;
    uint64_t d_ratios_from = 0;
    double d_snr;
    waveform_reading d_reading = waveform_reading::standard; // of the last block
};

} // namespace gr::hf::kernel
