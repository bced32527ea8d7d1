/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/frames/frame.h"
#include "ale/modem/receiver.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::ale {

/*! \brief Joins words to frames.
 *  \details A frame ends when its transmission does, when a word is lost after its
 *  conclusion, or when another frame starts. The address that was read most often counts.
 */
class frame_reader
{
public:
    //! Longest frame, words; what is longer is cut. A scanning call for 50 s has 128.
    static constexpr size_t max_words = 4096;

    //! The next event of a receiver.
    void push(const rx_event& e);
    //! End of the input.
    void finish();
    //! The next frame; empty: none.
    std::optional<frame> poll();

private:
    // An address that was read, and how often.
    struct reading {
        std::vector<word> words;
        bool whole = true; // no word after it was lost
        bool twas = false;
        size_t count = 0;
    };
    enum class part { nothing, to, thru, from, command, sender };

    void take(const rx_event& e);
    void start_address(const rx_event& e, part p);
    void extend(const word& w);
    void lose();
    void close_part();
    void end_frame();
    void forget_frame();
    void count(const rx_event& e);
    static void add(std::vector<reading>& all, const reading& r);
    static const reading* most_frequent(const std::vector<reading>& all);
    static bool is_group(const std::vector<reading>& all);
    static void drop_beginnings(std::vector<reading>& all);
    std::vector<std::string> called() const;
    void put_in_order(std::vector<std::string>& group) const;
    size_t max_readings() const;

    part d_part = part::nothing;
    reading d_open; // the part that is being read
    std::vector<reading> d_to, d_thru, d_senders;
    std::vector<std::string> d_sequence; // of called addresses, as they were read
    bool d_group = false;
    frame d_frame;
    size_t d_lost = 0;              // words since the last one that was read
    std::optional<rx_event> d_held; // a TO after a conclusion: a new frame, or misread
    std::deque<frame> d_frames;
};

} // namespace gr::hf::ale
