/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/constellation.h"
#include "waveform/convolutional_code.h"
#include "waveform/interleave.h"

#include <hf/mode.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! What a transmitted symbol is.
enum class symbol_kind : uint8_t {
    agc,      //!< known, before the preamble, for gain control only
    preamble, //!< known; at the start or reinserted
    probe,    //!< known, at the end of a frame
    data      //!< carries bits
};

//! True for everything but data.
constexpr bool is_known(symbol_kind k) { return k != symbol_kind::data; }

/*! \brief One place in the data phase.
 *
 * \c value is the number sent, an index into description::known_points, if the symbol is
 * known; the scrambling value if it is data.
 */
struct cell {
    symbol_kind kind = symbol_kind::data;
    uint8_t value = 0;
};

//! A piece of the preamble and what a receiver may expect there.
struct preamble_section {
    enum class content {
        fixed,     //!< the same in every mode of the family
        mode_word, //!< names the mode
        countdown  //!< says how much of the preamble is left
    };
    content what = content::fixed;
    size_t begin = 0;  //!< first symbol, counted from the start of the preamble
    size_t length = 0; //!< symbols
};

/*! \brief All that is on the air in one mode, as data.
 *
 * A transmission is
 *
 *     N x agc | preamble | cycle | cycle | ...
 *
 * A *cycle* is the shortest stretch of the data phase after which the pattern of known
 * symbols and scrambling values repeats: frames_per_cycle frames of unknown + known
 * symbols, then the reinserted preamble, if the family has one (it is not sent when the
 * transmission ends there). A cycle is a whole number of interleaver blocks.
 *
 * A block of bits passes these stages; each has its size here:
 *
 *     input_bits -> code -> coded_bits -> interleave -> labels of alphabet.bits bits
 *                -> symbols (or words of chips) into the block's data cells, in order
 *
 * Modulator and receiver read nothing else, so a further family is a further description.
 */
struct description {
    mode m;
    double symbol_rate = 2400; //!< symbols/s

    /*! \brief Points of the known symbols, by number. The first eight are 8PSK and all there
     *         are in the 3 kHz families; wideband probes need more.
     */
    std::vector<std::complex<float>> known_points = psk8_points();

    // Preamble: numbers as sent.
    std::vector<uint8_t> agc;      //!< one AGC block; empty: the family has none
    size_t max_agc_blocks = 0;     //!< allowed repetitions of agc
    std::vector<uint8_t> preamble; //!< from the first to the last symbol before the data
    std::vector<preamble_section> sections; //!< of the preamble, in order, without gaps

    // Frames.
    size_t unknown = 0;          //!< data symbols (chips) per frame, sent first
    size_t known = 0;            //!< probe symbols per frame, sent after them
    size_t frames_per_block = 0; //!< interleaver block
    size_t frames_per_cycle = 0; //!< multiple of frames_per_block
    size_t reinserted = 0;       //!< symbols of the reinserted preamble, end of the cycle
    std::vector<cell> cycle; //!< every symbol of a cycle, reinserted preamble included

    // Data symbols.
    constellation alphabet;
    /*! \brief Spread modes: chip values 0..7 of each word, before scrambling; else empty.
     *  \details Entry v is the word for number v; entry v + 2^alphabet.bits is the
     *  exceptional word for it, sent as the last word of each block.
     */
    std::vector<std::vector<uint8_t>> words;

    // Bits of a block.
    code_plan code;
    permutation interleave; //!< coded_bits entries
    size_t input_bits = 0;  //!< user bits per block, end of message and fill included
    size_t coded_bits = 0;  //!< bits on the air per block

    // End of the message.
    size_t flush_bits = 0;     //!< zeros after the end-of-message marker
    bool eom_optional = false; //!< the family lets the operator switch the marker off

    size_t frame_symbols() const { return unknown + known; }
    //! Symbols of a block; a reinserted preamble is not part of any block.
    size_t block_symbols() const { return frames_per_block * frame_symbols(); }
    size_t blocks_per_cycle() const { return frames_per_cycle / frames_per_block; }
    bool spread() const { return !words.empty(); }
    //! Chips per channel symbol: 1 unless spread.
    size_t chips() const { return words.empty() ? 1 : words.front().size(); }
    //! Channel symbols (labels) per block.
    size_t labels_per_block() const { return coded_bits / alphabet.bits; }

    /*! \brief First symbol of block \p k (0 is the first), counted from the first symbol
     *         after the preamble; reinserted preambles before it are counted.
     */
    uint64_t block_begin(uint64_t k) const
    {
        return k * block_symbols() + k / blocks_per_cycle() * reinserted;
    }
    //! The symbol after the last one of block \p k, counted as in block_begin().
    uint64_t block_end(uint64_t k) const { return block_begin(k) + block_symbols(); }
    //! The cell of symbol \p i of the data phase (0 is the first after the preamble).
    const cell& at(uint64_t i) const { return cycle[i % cycle.size()]; }
};

/*! \brief The description of a mode: constant, made when first asked for, kept for the
 * life of the program. Safe to call from several threads. \throws std::invalid_argument
 * for a mode that mode::all() lacks.
 */
const description& describe(const mode& m);

/*! \brief Mean power of mode \p m's data phase for random bits, known symbols included.
 *
 * Known symbols have power 1 and constellations peak at 1, so QAM modes are below 1
 * (6400: 0.808, 8000: 0.689, 9600 and 12800: 0.628). SNR is defined on this mean.
 */
double mean_power(const mode& m);

//! One frame of the data phase, as frame_cursor gives it.
struct frame {
    uint64_t begin = 0; //!< first symbol, counted from the first after the preamble
    uint64_t block = 0; //!< number of the interleaver block, 0 is the first
    size_t frame_in_block = 0; //!< 0 .. frames_per_block - 1
    size_t frame_in_cycle = 0; //!< 0 .. frames_per_cycle - 1
    size_t reinserted = 0;     //!< symbols of reinserted preamble just before this frame
    const cell* reinserted_cells = nullptr; //!< null if there are none
    const cell* data = nullptr;             //!< description::unknown cells
    const cell* probe = nullptr; //!< description::known cells, right after data
    bool last_of_block = false;
};

/*! \brief Walks through the endless sequence of frames after the preamble.
 *  \details Holds a reference: the description must outlive it (describe()'s does).
 */
class frame_cursor
{
public:
    explicit frame_cursor(const description& d) : d_d(d) {}

    //! The next frame; the first call gives the frame after the preamble.
    frame next();
    //! Go on with the first frame of block \p k.
    void seek_block(uint64_t k) { d_frame = k * d_d.frames_per_block; }

private:
    const description& d_d;
    uint64_t d_frame = 0;
};

//! The end-of-message marker, first bit sent is the most significant (110C 5.3.2.3.1).
constexpr uint32_t eom_marker = 0x4B65A5B2;
constexpr size_t eom_bits = 32;

} // namespace gr::hf::kernel
