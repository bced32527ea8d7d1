/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/frames/frame.h"
#include "ale/link/address_book.h"
#include "ale/link/lqa_store.h"

#include <hf/station_time.h>

#include <string>
#include <utility>
#include <vector>

namespace gr::hf::ale {

//! What a station takes from every frame that it hears: link quality and messages.
class heard_frames
{
public:
    //! A message that a caller repeats on another channel counts once. Our choice.
    static constexpr station_time same_message = std::chrono::seconds(60);

    //! \param book must outlive this
    explicit heard_frames(const address_book& book) : d_book(book) {}

    //! Notes the quality of the sender's channel, and what it reports of ours.
    void note(size_t channel, const frame& f, station_time now);
    //! Messages to us that are whole and not repeated.
    std::vector<std::string> messages(const frame& f, station_time now);

    lqa_store& quality() { return d_quality; }

private:
    bool is_own(const std::string& a) const;

    const address_book& d_book;
    lqa_store d_quality;
    std::pair<std::string, station_time> d_last; // sender and text
};

} // namespace gr::hf::ale
