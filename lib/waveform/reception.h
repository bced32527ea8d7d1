/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Known symbols by which a receiver finds a preamble, wherever it begins to listen. */
struct search_pattern {
    std::vector<std::complex<float>> symbols; //!< in a row; 0 where unknown
    /*! \brief Score from which on it may be a preamble: power of the correlation over the number
     *         of known symbols and the mean power in the window.
     *  \details On noise of any level exponentially distributed with mean 1; at most the number
     *  of known symbols. What follows must confirm it.
     */
    float threshold = 0;
    //! Symbols behind a peak within which a higher one may follow: of its own side peaks.
    size_t hold = 0;
    //! Between the carrier offsets that are tried, Hz.
    double step_hz = 0;
    //! Symbols after which the same preamble repeats it; 0: it comes once.
    size_t repeats_after = 0;
    /*! \brief It resembles itself at other delays, as cyclic probes do: paths are then told from
     *         side peaks with more care, and both halves of it must be there.
     */
    bool periodic = false;
    /*! \brief It resembles itself at an offset so many Hz lower or higher, and another delay; 0: at none
     *         that matters.
     */
    double resembles_hz = 0;
    /*! \brief Patterns of a family with the same number here, not 0, stand for readings of one
     *         preamble that resemble each other: of those at one place the best is looked at.
     */
    int contest = 0;
    //! Where that place is, symbols behind the first one: the same for all of a contest.
    size_t place = 0;
    /*! \brief Time over which it is looked for at first, s: stretches so long, their amplitudes
     *         added without phases, tell most places where there is nothing. 0: as a whole at once.
     */
    double first_look_s = 0;
};

/*! \brief A stretch of the preamble that is read as a whole: from a search pattern on.
 *  \details The fixed symbols at its begin tell the channel; through it each word is matched
 *  with all that it may be.
 */
struct preamble_stretch {
    //! Symbols at one place, and what they may be.
    struct word {
        size_t begin = 0; //!< first symbol, counted from the begin of the stretch
        std::vector<std::vector<std::complex<float>>> alternatives; //!< all of one length
    };
    size_t symbols = 0; //!< length
    size_t step = 0; //!< where it repeats, from one to the next; 0: the next one follows
    std::vector<std::complex<float>> fixed; //!< from its first symbol on; 0 where unknown
    std::vector<word> words;
    //! What came before the stretch read last is of no use any more, preamble_meaning::symbols_seen
    //! being counted from within it.
    bool alone = false;
};

//! What was received of a preamble_stretch.
struct preamble_evidence {
    /*! \brief [word][alternative]: sum of the conjugated symbols times the received ones, after
     *         the channel's matched filter. The right one gives gain * length, with a phase that
     *         is the channel's change since the fixed symbols.
     */
    std::vector<std::vector<std::complex<float>>> match;
    float noise = 1; //!< variance of a half-symbol row; of a match: length * noise * gain
    //! The same as the fixed symbols leave it, and as the words do: noise is the greater.
    float noise_of_fixed = 1, noise_of_words = 1;
    float gain = 0;  //!< energy of a symbol through the channel: Es / N0 is gain / noise
    float score = 0; //!< the search's, see search_pattern
};

//! A mode that a transmission may be in, where nothing that was read says it.
struct possible_mode {
    mode m;
    const reception_plan* plan = nullptr; //!< outlives the receiver
    unsigned bits = 0;                    //!< of its alphabet
    size_t frames_per_block = 0;
};

//! What a preamble turned out to announce.
struct preamble_meaning {
    const description* waveform = nullptr; //!< what is on the air; outlives the receiver
    const reception_plan* plan = nullptr;  //!< how to follow it; outlives the receiver
    size_t symbols_to_data = 0;            //!< from the begin of the stretch last read
    size_t symbols_seen = 0; //!< of the preamble, from the first stretch read on
    /*! \brief The known points that end where the data begin; empty: those of the
     *         description, as sent without options.
     */
    std::vector<std::complex<float>> preamble = {};
    /*! \brief Null, or modes with the frames of \c waveform, of which one is on the air: which, shows
     *         in what can be decoded. Blocks of all begin where the data begin.
     */
    const std::vector<possible_mode>* may_be = nullptr; //!< outlives the receiver
    bool joined = false; //!< it was no preamble, and data came before
};

/*! \brief Reads one preamble of a family, stretch by stretch.
 *  \details The receiver finds the channel on the fixed symbols and hands in what it matched;
 *  what that means is the family's.
 */
class preamble_reader
{
public:
    enum class verdict {
        more,      //!< cannot tell yet: the next stretch, please
        maybe,     //!< meaning() if the next stretch turns out to be none
        as_before, //!< it was none: what maybe said is right
        found,     //!< meaning() is right
        rejected   //!< this is no preamble of the family
    };
    virtual ~preamble_reader() = default;

    //! What to receive, the same every time.
    virtual const preamble_stretch& stretch() const = 0;
    //! The next stretch was received.
    virtual verdict read(const preamble_evidence& e) = 0;
    //! The same, but of its fixed symbols nothing was there.
    virtual verdict read_nothing() { return verdict::rejected; }
    //! What is announced; after maybe or found.
    virtual preamble_meaning meaning() const = 0;
};

//! What both ends have to agree on beforehand since no preamble says it.
struct reading_options {
    bool zero_interleaver =
        false; //!< a mode that stands for two means the zero interleaver
};

/*! \brief All that a receiver needs of a family to find and read its transmissions.
 *
 * A receiver listens for some of these at once, all of one symbol rate.
 */
struct family_reception {
    double symbol_rate_bd = 2400;
    std::vector<search_pattern> patterns;
    synchroniser_plan synchroniser;
    /*! \brief 0: patterns are looked for everywhere. Else they come again and again, and are looked
     *         for only where they begin in the first look_s of every look_every_s.
     */
    double look_every_s = 0, look_s = 0;
    /*! \brief A reader of the preamble at which patterns[\p pattern] was found. */
    std::function<std::unique_ptr<preamble_reader>(size_t pattern,
                                                   const reading_options& options)>
        reader;
    /*! \brief Times after which its preamble or scrambler repeats itself, s: to whoever looks for
     *         carriers such a signal consists of lines.
     */
    std::vector<double> periods_s;
};

} // namespace gr::hf::kernel
