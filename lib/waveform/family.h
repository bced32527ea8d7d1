/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"
#include "waveform/reception.h"

#include <hf/mode.h>

#include <string>
#include <vector>

namespace gr::hf::kernel {

//! Waveforms by their codes in EOW 7.
constexpr unsigned waveform_110a = 0, waveform_110b = 1, waveform_4539 = 3;

//! What a data link asks of a family: STANAG 5066 Annex C and our advice in EOW 8.
struct link_facts {
    //! Shortest interleaver for acknowledgements.
    interleaver shortest;
    //! Waveform codes of EOW 7 for its modes, the narrowest first; empty: EOW 1 and 7 have none.
    std::vector<unsigned> eow7_codes;
    //! Short and long interleavers as EOW 7 names them, 1/100 s.
    unsigned short_cs, long_cs;
    /*! \brief It has modes in many bandwidths: large windows pay off, and the rate change
     *         procedure, which starts at 300 bit/s of 4539, does not exist.
     */
    bool many_bandwidths;
    //! Bits 1-0 of EOW 8 in advice of its modes; 0: their advice goes by EOW 1.
    unsigned advice_code;
    //! SNR in the mode's bandwidth at which half of the shortest preambles are found on AWGN, dB.
    double preamble_db;
};

/*! \brief A family of waveforms, as the rest of the program uses it.
 *
 * A family is a folder of lib/waveform/families and one entry in registry.cc there. Mode
 * names, descriptions and times follow from that entry.
 */
struct family {
    waveform_family id;
    link_facts link;
    //! The standard at the start of its mode names: "4539".
    const char* standard;
    //! True if its mode names contain the bandwidth: "5069-48k-240000S".
    bool bandwidth_in_name;
    //! Form of its mode names in words, for the error message.
    const char* forms;
    //! Every mode that can be modulated.
    const std::vector<mode>& (*modes)();
    //! The description of a mode. \throws std::invalid_argument for modes of other
    //! families.
    description (*describe)(const mode& m);
    //! The preamble for the operator's options; null: there are none.
    //! \throws std::invalid_argument for options that are not allowed.
    preamble_plan (*preamble)(const mode& m, const preamble_options& o);
    /*! \brief The reception in a bandwidth, Hz. Null result: not in this bandwidth. Null
     *         pointer: in none.
     *  \details The result lives as long as the program.
     */
    const family_reception* (*reception)(int bandwidth_hz);
    /*! \brief How to join transmissions after their preamble in a bandwidth, Hz. Null:
     *         the ordinary reception does that.
     *  \details The result lives as long as the program.
     */
    const family_reception* (*late_entry)(int bandwidth_hz);
    //! Readings of a mode of the family found on the air, besides that of the standard.
    //! Null: none.
    std::vector<waveform_reading> (*other_readings)(const mode& m);
    //! How to follow a transmission in a mode. The result lives as long as the program.
    const reception_plan& (*plan_of)(const mode& m);
};

//! All families.
const std::vector<family>& families();

/*! \brief The receptions to listen for in a bandwidth, Hz; empty if there are none.
 *  \param join true: also those for joining a transmission whose preamble was missed, if
 *        that costs extra time
 */
std::vector<const family_reception*> receptions(int bandwidth_hz, bool join = true);

/*! \brief The same in kHz, as users give it.
 *  \throws std::invalid_argument that lists the bandwidths
 */
std::vector<const family_reception*> listened_for(int bandwidth_khz, bool join = true);

//! Readings of mode \p m found on the air, besides that of the standard.
std::vector<waveform_reading> other_readings(const mode& m);

//! The family of mode \p m.
const family& family_of(const mode& m);

/*! \brief The preamble of mode \p m with the operator's options; the description has the
 *         usual one.
 *  \throws std::invalid_argument for options that the family does not allow
 */
preamble_plan preamble_of(const mode& m, const preamble_options& o);

} // namespace gr::hf::kernel
