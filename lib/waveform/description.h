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

//! Where the sequence that scrambles the wideband preamble begins anew.
enum class preamble_scrambling {
    restart, //!< at every channel symbol
    running  //!< at every part of the super-frame, on through its channel symbols
};

//! How long a channel symbol of the wideband preamble is above 24 kHz, where no table says it.
enum class preamble_above_24_khz {
    same_time, //!< 13.333 ms as in every narrower band: 320 to 512 chips
    same_chips //!< 256 chips as at 24 kHz, in less time
};

//! What the operator may choose about the preamble; other families than wideband have no choice.
struct preamble_options {
    //! M: how often the preamble is sent, 1 to 32; empty: as the mode's family does by itself.
    std::optional<int> superframes;
    bool short_form =
        false; //!< fixed part of one channel symbol, not nine: with M = 1 only
    preamble_scrambling scrambling = preamble_scrambling::restart;
    preamble_above_24_khz above_24_khz = preamble_above_24_khz::same_time;

    bool operator==(const preamble_options& o) const
    {
        return superframes == o.superframes && short_form == o.short_form &&
               scrambling == o.scrambling && above_24_khz == o.above_24_khz;
    }
};

//! What the operator may choose about a transmission besides its mode.
struct tx_options {
    //! AGC (TLC) blocks before the preamble, 0 to description::max_agc_blocks (none in the
    //! serial tone, 7 in the high-rate family, 255 in wideband).
    int agc_blocks = 0;
    //! Send the end-of-message marker; only families with eom_optional may switch it off.
    bool eom = true;
    preamble_options preamble = {};
    //! Go on with the last mini-probe for description::eot_symbols, which ends reception early.
    bool eot = false;
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

//! What a transmission begins with. Numbers as sent, indices into description::known_points.
struct preamble_plan {
    std::vector<uint8_t> agc;     //!< one AGC (TLC) block; empty: the family has none
    std::vector<uint8_t> symbols; //!< from the first symbol to the last before the data
    size_t probe = 0;             //!< so many of them, at the end, are a mini-probe
    std::vector<preamble_section> sections; //!< of the symbols, in order, without gaps
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
    double symbol_rate_bd = 2400; //!< symbols/s

    /*! \brief Points of the known symbols (AGC, preamble, probes), by the number that a cell
     *         or the preamble has of them.
     *  \details How many there are, and which, is the family's affair: a receiver takes them
     *  from here. The 3 kHz families have the eight of 8PSK; wideband probes need more.
     */
    std::vector<std::complex<float>> known_points = psk8_points();

    // Preamble, as sent with preamble_options{}: see preamble_plan.
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
    /*! \brief Other readings of the standard that are met on the air, each like
     *         frame_patterns: frames that differ in their probe alone. What is sent is
     *         frame_patterns; a receiver goes by what it hears.
     */
    std::vector<std::vector<uint16_t>> other_readings;
    size_t probe_period =
        0; //!< probes repeat themselves after so many symbols; 0: do not

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
     *         after the preamble; reinserted preambles before it are counted.
     */
    uint64_t block_begin(uint64_t k) const
    {
        return k * block_symbols() + k / blocks_per_cycle() * reinserted;
    }
    //! The symbol after the last one of block \p k, counted as in block_begin().
    uint64_t block_end(uint64_t k) const { return block_begin(k) + block_symbols(); }
    //! The point sent for a known cell.
    std::complex<float> known_point(const cell& c) const { return known_points[c.value]; }
    size_t cycle_symbols() const
    {
        return frames_per_cycle * frame_symbols() + reinserted;
    }
    //! Which pattern frame \p frame of a cycle is in a reading: 0 is the one that is sent.
    uint16_t pattern_of(size_t frame, size_t reading) const
    {
        return reading == 0 ? frame_patterns[frame] : other_readings[reading - 1][frame];
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
    //! Append a frame of frame_symbols() cells to the cycle that is being described.
    void add_frame(const std::vector<cell>& cells);
    //! Take over \p p as the preamble.
    void set_preamble(preamble_plan p);
};

/*! \brief The description of a mode: constant, made when first asked for, kept for the
 * life of the program. Safe to call from several threads. \throws std::invalid_argument
 * for a mode that mode::all() lacks.
 */
const description& describe(const mode& m);

/*! \brief Mean power of a mode's data phase for random bits, known symbols included.
 *
 * Known symbols have power 1 and constellations peak at 1, so QAM modes are below 1
 * (6400: 0.808, 8000: 0.689, 9600 and 12800: 0.628). SNR is defined on this mean.
 */
double mean_power(const description& d);

//! The same of a mode that describe() knows.
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
