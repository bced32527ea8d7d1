/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/code_decoder.h"
#include "s5066/pdu/code_piece.h"
#include "s5066/words/address.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Adds up the soft bits of damaged copies of a segment, and decodes the sum.
 *
 * The code of some waveforms runs on through the blocks. So the code bits of a segment
 * are the same in every copy, wherever the copy stands, once the part of the header is
 * removed (code_ratios). The sum of the log-likelihood ratios is what an ideal receiver
 * of independent noises would decode.
 *
 * The CRC-32 decides. Each copy is one try, so a segment that needs n of them is wrong
 * with a chance of n / 2^32. A segment of zeros is never made: gaps look like it, and
 * their CRC is good.
 *
 * Nothing changes on the air. The method is our own: the standard leaves it to the
 * receiver.
 */
class soft_copies
{
public:
    //! Copies of a segment that are added up. After them it starts again from nothing, in
    //! case one of them was of other content.
    static constexpr unsigned max_copies = 12;
    //! Ratios kept, 2 octets each. The oldest segments are dropped. A window of 128
    //! segments of 200 octets needs 417,792.
    static constexpr size_t max_ratios = size_t{ 1 } << 20;
    //! Age at which the sum of a segment is dropped: two transmissions of the longest
    //! duration, 127.5 s (C.3.2.3), and their answers.
    static constexpr double longest_age_s = 300;

    //! Identity of a segment; the header CRC has protected all of it.
    struct key {
        address from;
        uint64_t numbering = 0; //!< of the peer, see arq_state::numberings
        uint16_t number = 0;    //!< frame sequence number
        size_t octets = 0;      //!< of the segment, without its CRC

        bool operator==(const key& o) const
        {
            return from == o.from && numbering == o.numbering && number == o.number &&
                   octets == o.octets;
        }
    };

    //! Without \p decode nothing is kept.
    explicit soft_copies(code_decoder decode) : d_decode(std::move(decode)) {}

    /*! \brief Take a damaged copy.
     *  \param copy of the segment and its CRC, see code_ratios::of_segment(). Copies in
     *         another code than this one are dropped.
     *  \return the good segment without its CRC, if the copies so far suffice for it.
     *          Empty also if there are fewer ratios than two for each bit.
     */
    std::optional<std::vector<uint8_t>>
    add(station_time now, const key& k, const code_piece& copy);
    //! The segment is complete.
    void drop(const key& k);
    //! Drop sums that are too old.
    void expire(station_time now);
    //! Ratios kept.
    size_t ratios() const { return d_ratios; }

private:
    struct entry {
        key k;
        station_time last{}; // copy
        unsigned copies = 0;
        kernel::code_plan code;
        std::vector<int16_t> sum;
    };
    std::list<entry>::iterator find(const key& k);
    void erase(std::list<entry>::iterator e);
    void keep(station_time now,
              std::list<entry>::iterator e,
              const key& k,
              const code_piece& copy);

    code_decoder d_decode;
    std::list<entry> d_entries; // the one with the latest copy last
    size_t d_ratios = 0;
};

} // namespace gr::hf::s5066
