/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/api.h>

#include <string>
#include <vector>

namespace gr::hf {

//! Family of a waveform. It decides the form of the preamble and which tables apply.
enum class waveform_family {
    serial_tone, //!< 75 to 2400 bit/s coded, 4800 uncoded (MIL-STD-188-110C 5.3.2)
    high_rate,   //!< 3200 to 9600 bit/s coded, 12800 uncoded (110C Appendix C)
    wideband,    //!< STANAG 5069 (110C Appendix D)
    robust       //!< our own, 50 to 300 bit/s below 0 dB; no standard has it
};

//! Interleaver length; which lengths exist depends on the family.
enum class interleaver {
    none,        //!< N: uncoded modes have none
    zero,        //!< Z: serial tone, coded but not interleaved
    ultra_short, //!< US
    very_short,  //!< VS
    short_,      //!< S
    medium,      //!< M
    long_,       //!< L
    very_long,   //!< VL
    voice        //!< V: serial tone 2400 with D1, D2 = 7, 7
};

//! How a maker read the standard where the transmitters on the air differ.
enum class waveform_reading {
    standard, //!< as the text and the figures have it
    reversed  //!< 5069 in 3 kHz: data scrambler and code run the other way in time
};

/*! \brief A way to modulate: family, data rate, bandwidth, interleaver, code.
 *
 * Its string form is the same in C++, Python, GRC, TOML, message metadata and on the
 * command line:
 *
 *     4539-<rate><interleaver>      4539-75L  4539-600S  4539-2400Z  4539-9600VL
 *     4539-4800N  4539-12800N       uncoded serial tone, uncoded high rate
 *     5069-<kHz>k-<rate><interleaver>   5069-48k-240000S  5069-18k-57600US
 *     5069-12k-1200L-k9             the code of constraint length 9, not 7
 *     5069-3k-1200S-reversed        another maker's reading of the standard
 *     grhf-<rate><interleaver>      grhf-200S: our own robust family, S or L
 *
 * 4539-4800N is the uncoded serial tone. 4539-4800 with any other interleaver is the 8PSK
 * high rate.
 */
struct HF_API mode {
    waveform_family family = waveform_family::serial_tone; //!< family of the waveform
    int rate_bps = 600;                                    //!< user data rate, bit/s
    int bandwidth_hz = 3000;              //!< nominal channel bandwidth, Hz
    interleaver il = interleaver::short_; //!< interleaver length
    int constraint_length = 7;            //!< constraint length of the convolutional code
    //! Reading of the standard. No preamble signals it, so a receiver reports it by itself.
    waveform_reading reading = waveform_reading::standard;

    /*! \brief Read the string form.
     *  \throws std::invalid_argument that names \p text and what is allowed.
     */
    static mode parse(const std::string& text);

    //! The string form; parse(to_string()) gives the same mode.
    std::string to_string() const;

    //! Every mode that can be modulated in the reading of the standard, ordered by
    //! standard, bandwidth, rate, interleaver and constraint length.
    static const std::vector<mode>& all();

    /*! \brief False if the receiver of this version does not know the family. Such a mode
     *         is for modulators and for emulated modems (hf.emulated_air, the event
     *         simulator).
     */
    bool receivable() const;

    bool operator==(const mode& o) const; //!< all parts are equal
    bool operator!=(const mode& o) const { return !(*this == o); } //!< any part differs
};

//! "N", "Z", "US", "VS", "S", "M", "L", "VL" or "V".
HF_API const char* to_string(interleaver il);

//! "standard" or "reversed".
HF_API const char* to_string(waveform_reading r);

} // namespace gr::hf
