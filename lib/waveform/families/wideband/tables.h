/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/*! \brief The printed tables of the wideband family: MIL-STD-188-110C Appendix D from 3
 *         to 24 kHz, 110D Appendix D above.
 *  \details make_tables.py writes tables.cc, which gives the clause of each table.
 */
namespace gr::hf::kernel::wideband {

//! One waveform in one bandwidth, with its interleavers.
struct waveform_row {
    int bandwidth_khz;
    unsigned wid;  //!< waveform number, 0 to 13
    unsigned bits; //!< coded bits per data symbol (waveform 0: per channel symbol)
    int rate_bps;  //!< user data rate
    size_t unknown,
        known; //!< data and probe symbols of a frame (waveform 0: chips, none)
    unsigned rate_num, rate_den; //!< code rate
    size_t frames[4]; //!< frames of an interleaver block: US, S, M, L; 0: there is none
    size_t increments[4]; //!< of the interleavers
};

//! How another rate is made of the rate-1/2 code: repeat each pair, then keep where the
//! mask says.
struct code_row {
    unsigned rate_num, rate_den;
    unsigned repetition;
    const char* t1[2]; //!< mask of T1, one digit per pair, for K = 7 and K = 9
    const char* t2[2]; //!< mask of T2
};

//! A mini-probe by its length.
struct probe_row {
    size_t length;
    size_t base;  //!< length of the sequence that is repeated
    size_t shift; //!< of the probe that marks a boundary
};

extern const std::array<waveform_row, 155> waveforms;
extern const std::array<code_row, 17> codes;
extern const std::array<probe_row, 21> probes;
//! Scrambling of the preamble's three parts, values 0 to 7.
extern const std::array<uint8_t, 256> fixed_pn, count_pn, wid_pn;
//! Register of waveform 0's chip scrambler at the start.
extern const std::array<uint8_t, 159> chip_scrambler_preset;

} // namespace gr::hf::kernel::wideband
