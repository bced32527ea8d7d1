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

/*! Known symbols by which a receiver finds a preamble. It may start listening anywhere.
 */
struct search_pattern {
    std::vector<std::complex<float>> symbols; //!< contiguous; 0 where unknown
    /*! \brief Score of a candidate: power of the correlation, over the number of known
     *         symbols and the mean power in the window.
     *  \details On noise of any level the score is exponentially distributed with mean
     *  1. Its maximum is the number of known symbols. The symbols after the pattern must
     *  confirm a candidate.
     */
    float threshold = 0;
    //! Symbols after a peak within which a higher one may follow, if this was only a side
    //! peak.
    size_t hold = 0;
    //! Step between the carrier offsets tried, Hz.
    double step_hz = 0;
    //! Symbols after which the same preamble repeats the pattern; 0: no repetition.
    size_t repeats_after = 0;
    /*! \brief The pattern resembles itself at other delays, as cyclic probes do. Then
     *         paths are separated from side peaks with more care, and both halves of the
     *         pattern must be present.
     */
    bool periodic = false;
    /*! \brief Offset in Hz, lower or higher, at which the pattern resembles itself at
     *         another delay. 0: no offset that matters.
     */
    double resembles_hz = 0;
    /*! \brief The same, for an offset beyond the range of the search. 0: none.
     *  \details A candidate that has been read is rejected if it fits better there.
     */
    double resembles_beyond_hz = 0;
    /*! \brief Patterns of a family with the same number here, except 0, are readings of
     *         one preamble that resemble each other. Of candidates at one place only the
     *         best is examined.
     */
    int contest = 0;
    //! That place, in symbols after the first; the same for all patterns of a contest.
    size_t place = 0;
    /*! \brief Length of the stretches of the first look, s. Their amplitudes, added
     *         without phases, exclude most empty places. 0: no first look.
     */
    double first_look_s = 0;
};

/*! \brief A stretch of the preamble that is read as a whole, from a search pattern on.
 *  \details The fixed symbols at its start give the channel. Each word is matched
 *  through this channel, with all its alternatives.
 */
struct preamble_stretch {
    //! Symbols at one place, and their possible values.
    struct word {
        size_t begin = 0; //!< first symbol, counted from the start of the stretch
        std::vector<std::vector<std::complex<float>>> alternatives; //!< all of one length
    };
    size_t symbols = 0; //!< length
    size_t step = 0;    //!< symbols from one repetition to the next; 0: symbols
    std::vector<std::complex<float>> fixed; //!< from its first symbol on; 0 where unknown
    std::vector<word> words;
    //! Earlier stretches are useless: preamble_meaning::symbols_seen counts from within
    //! the last one.
    bool alone = false;
};

//! Measurements on a preamble_stretch.
struct preamble_evidence {
    /*! \brief [word][alternative]: sum of the conjugated symbols times the received ones,
     *         after the channel's matched filter. The right alternative gives gain *
     *         length. Its phase is the channel's change since the fixed symbols.
     */
    std::vector<std::vector<std::complex<float>>> match;
    float noise = 1; //!< variance of a half-symbol row; of a match: length * noise * gain
    //! Noise by the residual of the fixed symbols, and by that of the words; noise is the
    //! greater.
    float noise_of_fixed = 1, noise_of_words = 1;
    float gain = 0;  //!< energy of a symbol through the channel: Es / N0 is gain / noise
    float score = 0; //!< score of the search, see search_pattern
};

//! A mode that a transmission may be in, or a place of its blocks, where nothing that was read says it.
struct possible_mode {
    mode m;
    const reception_plan* plan = nullptr; //!< outlives the receiver
    unsigned bits = 0;                    //!< bits of its alphabet
    size_t frames_per_block = 0;
    size_t first_frame = 0; //!< of a block: the first one that may be decoded
};

//! The meaning of a preamble.
struct preamble_meaning {
    const description* waveform = nullptr; //!< what is on the air; outlives the receiver
    const reception_plan* plan = nullptr;  //!< how to follow it; outlives the receiver
    size_t symbols_to_data = 0;            //!< from the start of the stretch last read
    size_t symbols_seen = 0; //!< of the preamble, from the first stretch read on
    /*! \brief Known points up to the start of the data. Empty: those of the description,
     *         as sent without options.
     */
    std::vector<std::complex<float>> preamble = {};
    /*! \brief Null, or the modes with the frames of \c waveform. The decoded data show
     *         which one is on the air. Blocks of all modes start where the data start.
     */
    const std::vector<possible_mode>* may_be = nullptr; //!< outlives the receiver
    bool joined = false; //!< joined without a preamble, during the data
};

/*! \brief Reads one preamble of a family, stretch by stretch.
 *  \details The receiver finds the channel on the fixed symbols and matches the words.
 *  The family interprets the matches.
 */
class preamble_reader
{
public:
    enum class verdict {
        more,      //!< undecided: wants the next stretch
        maybe,     //!< meaning() is right if the next stretch is not a stretch
        as_before, //!< no stretch: the last maybe is right
        found,     //!< meaning() is right
        rejected   //!< no preamble of the family
    };
    virtual ~preamble_reader() = default;

    //! The stretch to receive, the same every time.
    virtual const preamble_stretch& stretch() const = 0;
    //! The next stretch was received.
    virtual verdict read(const preamble_evidence& e) = 0;
    //! The next stretch was received, but its fixed symbols are missing.
    virtual verdict read_nothing() { return verdict::rejected; }
    //! What the preamble says. Call after the verdict maybe or found.
    virtual preamble_meaning meaning() const = 0;
};

//! Agreements between both ends that no preamble signals.
struct reading_options {
    bool zero_interleaver = false; //!< an ambiguous mode means the zero interleaver
};

/*! \brief All that a receiver needs to find and read transmissions of a family.
 *
 * A receiver listens for several of these at once, all of one symbol rate.
 */
struct family_reception {
    double symbol_rate_bd = 2400;
    std::vector<search_pattern> patterns;
    synchroniser_plan synchroniser;
    /*! \brief 0: search for patterns everywhere. Else they repeat, and are only searched
     *         for where they start in the first look_s of every look_every_s.
     */
    double look_every_s = 0, look_s = 0;
    /*! \brief Makes a reader of the preamble at which patterns[\p pattern] was found. */
    std::function<std::unique_ptr<preamble_reader>(size_t pattern,
                                                   const reading_options& options)>
        reader;
    /*! \brief Periods of its preamble or scrambler, s. To the carrier search such a
     *         signal looks like lines.
     */
    std::vector<double> periods_s;
};

} // namespace gr::hf::kernel
