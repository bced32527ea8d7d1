/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! Scrambling values of the data symbols (chips) of block \p block, in order.
std::vector<uint8_t> scrambling_of(const description& d, uint64_t block);

/*! \brief Maps the coded bits of block \p block to the numbers on the air.
 *  \param fetched description::coded_bits unpacked bits in fetch order
 *  \param[out] numbers of the block's data symbols (chips) as sent, in order
 */
void map_block(const description& d,
               const uint8_t* fetched,
               uint64_t block,
               std::vector<uint8_t>& numbers);

/*! \brief Encodes the bits of an interleaver block to the numbers on the air.
 *
 * Holds the state of the convolutional encoder. In the serial-tone family that state
 * runs on through the blocks of a transmission. The description must outlive the object.
 */
class block_encoder
{
public:
    explicit block_encoder(const description& d);

    /*! \brief Encode one block.
     *  \param bits description::input_bits unpacked bits.
     *  \param block number of the block: selects the scrambling values.
     *  \return numbers of the block's data symbols (chips) as sent, in order; valid until
     *  the next call.
     */
    const std::vector<uint8_t>& encode(const uint8_t* bits, uint64_t block);

    //! Coded bits of the last block, before the interleaver.
    const std::vector<uint8_t>& coded() const { return d_coded; }
    //! The same bits in fetch order.
    const std::vector<uint8_t>& fetched() const { return d_fetched; }
    //! Start of a transmission: encoder register to zero.
    void reset() { d_encoder.reset(); }

private:
    const description& d_d;
    convolutional_encoder d_encoder;
    std::vector<uint8_t> d_coded, d_fetched, d_numbers;
};

} // namespace gr::hf::kernel
