/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <pmt/pmt.h>

//! Tags on the streams between the stages of the waveform chain.
namespace gr::hf::tags {

constexpr char packet_len[] = "packet_len"; //!< items of an interleaver block
constexpr char tx_sob[] = "tx_sob";         //!< first item of a transmission to send
constexpr char tx_eob[] = "tx_eob";         //!< last item of one

//! Tag of a transmission that was found: a dictionary, see preamble_finder.
inline const pmt::pmt_t& hf_start()
{
    static const pmt::pmt_t key = pmt::intern("hf_start");
    return key;
}

//! True for the tag of the first item of a transmission, sent or received.
inline bool begins(const pmt::pmt_t& key)
{
    static const pmt::pmt_t sob = pmt::intern(tx_sob);
    return pmt::eqv(key, sob) || pmt::eqv(key, hf_start());
}

//! True for the tag of the last item of a transmission.
inline bool ends(const pmt::pmt_t& key)
{
    static const pmt::pmt_t eob = pmt::intern(tx_eob);
    return pmt::eqv(key, eob);
}

} // namespace gr::hf::tags
