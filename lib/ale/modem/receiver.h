/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/modem/frame_search.h"
#include "ale/modem/soft_bits.h"
#include "ale/modem/tone_rows.h"
#include "ale/modem/word_meter.h"
#include "ale/words/coding.h"
#include "ale/words/expected_words.h"
#include "radio/mixer.h"
#include "radio/resampler.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::ale {

//! What a receiver reports of the words on the air.
struct rx_event {
    enum class kind {
        word, //!< a word was read
        lost, //!< no word could be read where one was expected
        end,  //!< the transmission is over, or another one has replaced it
        again //!< the words of an expected frame follow, all of them: forget those before
    };
    kind what = kind::word;
    double start_s = 0; //!< start of the word, or of the first one after the last, s
    word text;          //!< of a word; the others are of words, too
    int votes = 0;      //!< unanimous votes, 0 to 48
    float score = 0;    //!< correlation, 0 to 12.1; noise has a standard deviation of 1
    float fit = 0; //!< score by the largest one that these soft bits could have, 0 to 1
    float snr_db = 0; //!< in 3 kHz
    float offset_hz = 0;
};

/*! \brief Limits of the receiver.
 *  \details Scores are correlations of a codeword with the 147 soft bits, so noise has a
 *  standard deviation of 1 whatever its level. With 2^24 words the best of pure noise
 *  reaches about 5. Those of expected words: laboratory/results/log/ale-linking.md.
 */
struct receiver_limits {
    float lock = 7.2f;      //!< least score of the first word of a transmission
    float lock_fit = 0.85f; //!< least fit of the first word
    float follow = 5.6f;    //!< least score of the next words
    float follow_any =
        6.5f; //!< the same for words with any characters: there are 64 times more
    float follow_fit = 0.8f; //!< least fit of the next words
    float better = 1.0f;     //!< by which the word of another transmission must be better
    int max_lost = 3;        //!< words in a row that may be lost (A.5.5.2.4)

    float known = 4.5f;       //!< least score of an expected word of a call
    float known_worse = 1.0f; //!< most by which any other word may be better
    //! Least sum of the scores of an expected frame, over the root of their number.
    float frame = 6.5f;
    float frame_last = 3.5f; //!< least score of its last word
    //! Most by which any other word may be better than its last word, and a word that is
    //! proved by itself better than one of the earlier words.
    float frame_worse = 2.0f;
};

/*! \brief Receiver of 2G ALE: samples to words.
 *  \details Searches every millisecond and seven frequency offsets. The inner code is
 *  cyclic, so a stream that starts two bits late decodes as well. The start of words is
 *  therefore proved by content: the first word must start an address, and within a word's
 *  length the best candidate counts. Every word is then decoded where it is expected.
 *
 *  A station that knows who may call, and which frame it waits for, reads more: see expect().
 */
class receiver
{
public:
    //! Without expectations.
    static constexpr size_t min_history = 4;

    /*! \param history_words number of words, from min_history on, that are remembered.
     *         Expected frames with more words are not searched for.
     */
    explicit receiver(const receiver_limits& limits = {},
                      size_t history_words = min_history);

    /*! \brief What the station expects from now on. It replaces what was expected before.
     *  \details In a call whose called address was read, that address again, own addresses
     *  and known callers need less proof. The words of an expected frame are reported
     *  together, after its last one. An event of kind end comes before them if they replace
     *  another transmission, and one of kind again if words of this one were reported.
     */
    void expect(const expected_words& e);

    /*! \brief Take \p n samples of baseband, as the data modem does: 9600 samples/s, 1800 Hz
     *         of audio at 0 Hz.
     *  \details Samples that are not finite, or absurdly large, count as 0.
     */
    void push(const std::complex<float>* x, size_t n);
    //! The next event, in order of time; empty: none.
    std::optional<rx_event> poll();

    //! Rows that a decision about single tones takes, ms.
    static constexpr int presence_rows = 150;
    //! Forget what was on the channel: the radio was tuned to another one.
    void start_presence() { d_presence = {}; }
    /*! \brief Single tones were on the channel, as of ALE, since start_presence(). Empty:
     *         not yet known.
     */
    std::optional<bool> presence() const;

private:
    static constexpr int64_t rows_per_word = tones_per_word * rows_per_tone;

    struct place {
        int64_t end = 0; // last row of the word
        size_t offset = 0;
        float sum = 0; // of magnitudes of its soft bits
    };
    struct candidate {
        place where;
        rx_event event;
    };
    struct track {
        place where; // of the latest word
        bool message = false;
        int lost = 0;
        std::optional<word> called;   // latest TO
        std::vector<word> conclusion; // TIS or TWAS, and the words after it
    };
    // The latest word that was read.
    struct last_word {
        int64_t end = -1;
        float score = 0;
    };

    // Prominence of rows that are not silent.
    struct presence_sum {
        float sum = 0;
        int rows = 0;
    };

    void on_row(const tone_rows::row& r);
    void await_frame();
    bool contradicted(const frame_search::match& m) const;
    void take_frame(const frame_search::match& m);
    void search(int64_t now);
    void judge(const place& p);
    void settle(const candidate& c);
    void read_earlier(const candidate& c);
    void follow(int64_t now);
    bool stands(const rx_event& e) const;
    std::optional<rx_event> read(const place& p, bool message) const;
    std::vector<word> called_words(const word& read) const;
    std::vector<word> known_next() const;
    std::optional<rx_event> read_known(const place& p,
                                       const std::vector<word>& known) const;
    std::optional<rx_event> read_standing(const place& p, bool message) const;
    rx_event
    event_of(const place& p, const soft_word& w, const word& text, float sum) const;
    void report(const rx_event& e);
    void lose(int64_t end);
    place best_near(int64_t end, size_t offset) const;
    void end_track();
    void restart_track(int64_t end);
    void measure(const place& p, rx_event& e) const;
    double start_of(int64_t end) const;

    receiver_limits d_limits;
    kernel::resampler d_resampler;
    kernel::mixer d_mixer;
    std::vector<std::complex<float>> d_piece;
    tone_rows d_rows;
    const size_t d_history_words;
    soft_bits d_bits;
    frame_search d_frames;
    std::vector<word> d_called; // of expected_words, as d_callers
    std::vector<std::vector<word>> d_callers;
    word_meter d_meter;
    std::optional<place> d_place;    // strongest of the latest rows
    std::optional<candidate> d_best; // of the latest word's length
    int64_t d_settled = 0;           // row at which d_best counts
    std::optional<track> d_track;
    last_word d_last;
    presence_sum d_presence;
    std::deque<rx_event> d_events;
};

} // namespace gr::hf::ale
