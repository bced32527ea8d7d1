/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/block_encoder.h"
#include "waveform/description.h"
#include "waveform/frame_builder.h"
#include "waveform/message_framer.h"

#include <hf/mode.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Converts octets to symbols, block by block on demand.
 *
 *      transmitter tx(mode::parse("4539-600S"));
 *      while (!tx.done()) {
 *          if (size_t n = tx.octets_wanted())
 *              tx.give(p, ..., last);    // at most n octets
 *          size_t got = tx.produce(symbols, room);
 *      }
 *
 * It asks for the octets of a block as late as possible: when every symbol before the
 * block has been produced, except for a reinserted preamble. It asks for exactly the
 * octets that fill the block's bits. A block of 75 bit/s with the short interleaver has
 * 45 bits, so it asks for 6, 6, 5, 6, 6, 5, ... octets. Surplus bits go into the next
 * block.
 *
 * After the last octet follow the end-of-message marker, the flush bits of the family,
 * and zeros up to the end of the block. That is also done in the uncoded and the
 * zero-interleaver modes, as the standard permits. Then follows, on request, the
 * end-of-transmission continuation of the last probe. The first bit of an octet is its
 * least significant, unless the description says otherwise.
 */
class transmitter
{
public:
    //! \throws std::invalid_argument for an unknown mode or options that it does not
    //! allow
    explicit transmitter(const mode& m, tx_options options = {});
    /*! \brief The same from a description, which must outlive it.
     *  \throws std::invalid_argument for options that it does not allow
     */
    explicit transmitter(const description& d, tx_options options = {});

    //! Octets to give before produce() can continue; 0: none now.
    size_t octets_wanted() const;
    /*! \brief First symbol of the wanted block, or of the current block if none is
     *         wanted. Counted from the first symbol of the transmission, AGC included.
     */
    uint64_t block_symbol() const;
    /*! \brief Give the octets that octets_wanted() asks for.
     *  \details Surplus octets are cut off. Fewer octets, or \p last, end the message.
     *  Ignored if nothing is wanted.
     */
    void give(const uint8_t* octets, size_t n, bool last);

    //! Write at most \p n symbols; stops early if octets are wanted, and at the end.
    size_t produce(tx_symbol* out, size_t n);
    //! True once everything has been produced.
    bool done() const { return d_phase == phase::done; }
    //! Number of symbols produced.
    uint64_t produced() const { return d_produced; }

    const description& waveform() const { return d_d; }

private:
    enum class phase { head, want, block, tail, done };

    void next_block();

    const description& d_d;
    message_framer d_framer;
    frame_builder d_frames;
    block_encoder d_encoder;
    phase d_phase = phase::head;
    std::vector<tx_symbol> d_tail;
    size_t d_next_tail = 0;
    std::vector<uint8_t> d_numbers; // data of the current block
    size_t d_next_number = 0;
    uint64_t d_block = 0; // number of the current or wanted block
    uint64_t d_produced = 0;
};

} // namespace gr::hf::kernel
