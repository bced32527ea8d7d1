/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/code_decoder.h"
#include "s5066/dts/rx/code_ratios.h"
#include "s5066/pdu/deframer.h"
#include "s5066/pdu/fsn.h"

#include <hf/mode.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Reads DATA-ONLY D_PDUs whose header has too many errors, by what is known of it.
 *
 * D_PDUs follow each other without a gap, and bulk data have one size. So the place of a
 * lost header is known, and its sync, type, addresses and size are those of a neighbour.
 * EOT follows from the place. Only flags, number and CRC-16 are open. They are decoded
 * with the known bits before them.
 *
 * The CRC-16 must be good, and the number must lie between those of the neighbours. So a
 * wrong header is as rare as one that the deframer finds by chance.
 *
 * The method is our own: the standard leaves it to the receiver.
 */
class lost_headers
{
public:
    //! Places tried in one reception.
    static constexpr unsigned max_tries = 1024;

    //! Without \p decode nothing is found.
    explicit lost_headers(code_decoder decode) : d_decode(std::move(decode)) {}

    //! A reception in \p m starts.
    void reset(const gr::hf::mode& m);
    /*! \brief Takes the next D_PDU of the deframer. next() returns it after those before it.
     *  \return number of D_PDUs found between it and the one before
     */
    size_t take(received_d_pdu r, const code_ratios& ratios);
    //! The reception is over. \return number of D_PDUs found after the last one
    size_t end(const code_ratios& ratios);
    //! The next D_PDU in the order of the air.
    std::optional<received_d_pdu> next();

private:
    //! Where D_PDUs may be, and their numbers.
    struct gap {
        uint64_t begin, end; // bits
        std::optional<uint16_t> after, until;
    };
    size_t search(const received_d_pdu& like, gap g, const code_ratios& ratios);
    std::optional<received_d_pdu> read(const received_d_pdu& like,
                                       uint64_t at,
                                       const gap& g,
                                       const code_ratios& ratios);
    static bool between(uint16_t number, const gap& g, const fsn_space& numbers);
    std::vector<uint8_t>
    header_at(const received_d_pdu& like, uint64_t at, const code_ratios& ratios) const;

    code_decoder d_decode;
    double d_bits_per_second = 0;
    unsigned d_tries = 0;
    uint64_t d_end = 0;                   // of the last D_PDU, bits
    std::optional<received_d_pdu> d_last; // DATA-ONLY
    std::deque<received_d_pdu> d_found;   // not returned yet
};

} // namespace gr::hf::s5066
