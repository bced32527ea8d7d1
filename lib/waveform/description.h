/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/constellation.h"
#include "waveform/coding/convolutional_code.h"
#include "waveform/coding/interleave.h"

#include <hf/mode.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Kind of a transmitted symbol.
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
 * For a known symbol, \c value is the number sent, an index into
 * description::known_points. For data it is the scrambling value.
 */
struct cell {
    symbol_kind kind = symbol_kind::data;
    uint8_t value = 0;
};

//! Where the scrambling sequence of the wideband preamble restarts.
enum class preamble_scrambling {
    restart, //!< at every channel symbol
    running  //!< at every part of the super-frame, through all its channel symbols
};

//! Length of a channel symbol of the wideband preamble above 24 kHz; no table gives it.
enum class preamble_above_24_khz {
    same_time, //!< 13.333 ms as in every narrower band: 320 to 512 chips
    same_chips //!< 256 chips as at 24 kHz, in less time
};

//! The operator's choices about the preamble; only the wideband family has any.
struct preamble_options {
    //! M: how many times the preamble is sent, 1 to 32; empty: the family's usual number
    //! for the mode.
    std::optional<int> superframes;
    bool short_form =
        false; //!< fixed part of one channel symbol instead of nine; only with M = 1
    preamble_scrambling scrambling = preamble_scrambling::restart;
    preamble_above_24_khz above_24_khz = preamble_above_24_khz::same_time;

    bool operator==(const preamble_options& o) const
    {
        return superframes == o.superframes && short_form == o.short_form &&
               scrambling == o.scrambling && above_24_khz == o.above_24_khz;
    }
};

//! The operator's choices about a transmission, besides its mode.
struct tx_options {
    //! AGC (TLC) blocks before the preamble, 0 to description::max_agc_blocks: none in
    //! the serial tone, 7 in the high-rate family, 255 in wideband.
    int agc_blocks = 0;
    //! Send the end-of-message marker; only families with eom_optional may switch it off.
    bool eom = true;
    preamble_options preamble = {};
    //! Continue the last mini-probe for description::eot_symbols, which ends reception
    //! early.
    bool eot = false;
};

//! A piece of the preamble and its content.
struct preamble_section {
    enum class content {
        fixed,     //!< the same in every mode of the family
        mode_word, //!< identifies the mode
        countdown  //!< rest of the preamble
    };
    content what = content::fixed;
    size_t begin = 0;  //!< first symbol, counted from the start of the preamble
    size_t length = 0; //!< symbols
};

//! The start of a transmission. Numbers as sent, indices into description::known_points.
struct preamble_plan {
    std::vector<uint8_t> agc;     //!< one AGC (TLC) block; empty: the family has none
    std::vector<uint8_t> symbols; //!< from the first symbol to the last before the data
    size_t probe = 0;             //!< length of the mini-probe at their end
    std::vector<preamble_section> sections; //!< sections of the symbols, in order,
                                            //!< without gaps
};

/*! \brief All that is on the air in one mode, as data.
 *
 * A transmission is
 *
 *      N x agc | preamble | cycle | cycle | ...
 *
 * A *cycle* is the shortest stretch of the data phase after which the pattern of known
 * symbols and scrambling values repeats. It has frames_per_cycle frames of unknown +
 * known symbols, then the reinserted preamble, if the family has one. A reinserted
 * preamble is not sent where the transmission ends. A cycle is a whole number of
 * interleaver blocks.
 *
 * A block of bits passes these stages; each has its size here:
 *
 *      input_bits -> code -> coded_bits -> interleave -> labels of alphabet.bits bits
 *        -> symbols (or words of chips) into the block's data cells, in order
 *
 * Modulator and receiver read nothing else. So a further family is a further
 * description.
 */
struct description {
    mode m;
    double symbol_rate_bd = 2400; //!< symbols/s

    /*! \brief Points of the known symbols (AGC, preamble, probes), by the number used in
     *         cells and in the preamble.
     *  \details The family decides on the points; a receiver takes them from here. The
     *  3 kHz families have the eight of 8PSK. Wideband probes need more.
     */
    std::vector<std::complex<float>> known_points = psk8_points();

    // Preamble with preamble_options{}, see preamble_plan.
    std::vector<uint8_t> agc;
    size_t max_agc_blocks = 0; //!< allowed repetitions of agc
    std::vector<uint8_t> preamble;
    size_t preamble_probe = 0;
    std::vector<preamble_section> sections;

    // Frames.
    size_t unknown = 0;          //!< data symbols (chips) per frame, sent first
    size_t known = 0;            //!< probe symbols per frame, sent after them
    size_t frames_per_block = 0; //!< interleaver block
    size_t frames_per_cycle = 0; //!< multiple of frames_per_block
    size_t reinserted = 0;       //!< symbols of the reinserted preamble, end of the cycle
    std::vector<cell> patterns;  //!< the different frames of a cycle, one by one
    std::vector<uint16_t> frame_patterns; //!< which of them each frame of a cycle is
    std::vector<cell> reinserted_cells;   //!< the reinserted preamble
    /*! \brief Other readings of the standard found on the air, in the form of
     *         frame_patterns. Their frames differ in the probe only. The sender uses
     *         frame_patterns; a receiver detects the reading.
     */
    std::vector<std::vector<uint16_t>> other_probes;
    /*! \brief The same frames on the air with other scrambling values of the data, or
     *         another code: other readings of the standard. The decoded data show which
     *         one was sent.
     */
    std::vector<mode> also_read_as;
    size_t probe_period =
        0; //!< symbols after which a probe repeats itself; 0: it does not

    // Data symbols.
    constellation alphabet;
    /*! \brief Spread modes: chip values 0..7 of each word, before scrambling; else empty.
     *  \details Entry v is the word for number v. Entry v + 2^alphabet.bits is its
     *  exceptional word, sent as the last word of each block.
     */
    std::vector<std::vector<uint8_t>> words;

    // Bits of a block.
    code_plan code;
    permutation interleave; //!< coded_bits entries
    size_t input_bits = 0;  //!< user bits per block, end of message and fill included
    size_t coded_bits = 0;  //!< bits on the air per block
    //! Bit of an octet that is sent first; no standard of these families fixes it.
    bool most_significant_first = false;

    // End of the message.
    size_t flush_bits = 0;     //!< zeros after the end-of-message marker
    bool eom_optional = false; //!< the operator may switch the marker off
    size_t eot_symbols = 0; //!< continuation of the last probe that ends reception early

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
     *         after the preamble, reinserted preambles included.
     */
    uint64_t block_begin(uint64_t k) const
    {
        return k * block_symbols() + k / blocks_per_cycle() * reinserted;
    }
    //! The symbol after the last one of block \p k, counted like block_begin().
    uint64_t block_end(uint64_t k) const { return block_begin(k) + block_symbols(); }
    //! First symbol of frame \p k (0 is the first), counted as in block_begin().
    uint64_t frame_begin(uint64_t k) const
    {
        return block_begin(k / frames_per_block) + k % frames_per_block * frame_symbols();
    }
    //! The point sent for a known cell.
    std::complex<float> known_point(const cell& c) const { return known_points[c.value]; }
    size_t cycle_symbols() const
    {
        return frames_per_cycle * frame_symbols() + reinserted;
    }
    //! Pattern of frame \p frame of a cycle in a reading of the probes; reading 0 is the
    //! one that is sent.
    uint16_t pattern_of(size_t frame, size_t reading) const
    {
        return reading == 0 ? frame_patterns[frame] : other_probes[reading - 1][frame];
    }
    //! The cells of the data of frame \p frame of a cycle.
    const cell* data_of(size_t frame) const
    {
        return &patterns[frame_patterns[frame] * frame_symbols()];
    }
    //! The cell of symbol \p i of the data phase (0 is the first after the preamble).
    const cell& at(uint64_t i, size_t reading = 0) const
    {
        const uint64_t place = i % cycle_symbols(), frame = place / frame_symbols();
        if (frame >= frames_per_cycle)
            return reinserted_cells[place - frames_per_cycle * frame_symbols()];
        return patterns[pattern_of(frame, reading) * frame_symbols() +
                        place % frame_symbols()];
    }
    //! Append a frame of frame_symbols() cells to the cycle.
    void add_frame(const std::vector<cell>& cells);
    //! Use \p p as the preamble.
    void set_preamble(preamble_plan p);
};

/*! \brief The description of a mode. Constant, made on first use, kept for the life of
 *         the program. Safe to call from several threads.
 *  \throws std::invalid_argument for a mode that mode::all() lacks
 */
const description& describe(const mode& m);

/*! \brief Mean power of a mode's data phase for random bits, known symbols included.
 *
 * Known symbols have power 1 and constellations peak at 1, so QAM modes are below 1
 * (6400: 0.808, 8000: 0.689, 9600 and 12800: 0.628). SNR is defined on this mean.
 */
double mean_power(const description& d);

//! The same for a mode known to describe().
double mean_power(const mode& m);

//! One frame of the data phase, as returned by frame_cursor.
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
 *  \details Keeps a reference: the description must outlive it, as describe()'s does.
 */
class frame_cursor
{
public:
    explicit frame_cursor(const description& d) : d_d(d) {}

    //! The next frame; the first call returns the frame after the preamble.
    frame next();
    //! Go on with frame \p k of the transmission.
    void seek_frame(uint64_t k) { d_frame = k; }
    //! Go on with the first frame of block \p k.
    void seek_block(uint64_t k) { d_frame = k * d_d.frames_per_block; }

private:
    const description& d_d;
    uint64_t d_frame = 0;
};

//! The end-of-message marker; the most significant bit is sent first (110C 5.3.2.3.1).
constexpr uint32_t eom_marker = 0x4B65A5B2;
constexpr size_t eom_bits = 32;

} // namespace gr::hf::kernel
