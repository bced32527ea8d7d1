/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Turns decoded bits into messages.
 *  \ingroup hf
 *
 * Input: unpacked bits in packets of any length, with the tag hf_start at the first
 * bit of a transmission. Message port \c pdus (out): a PDU for each transmission: the
 * octets before the end-of-message marker (110C 5.3.2.3.1), and the keys mode, reason,
 * and snr_db, freq_offset_hz and quality as far as tags say them. Reason is eom, or
 * lost if there was no marker until the next transmission or the end of the flowgraph.
 * Bits after the marker are ignored. A message of more than 16 MiB is delivered in
 * several PDUs.
 */
class HF_API message_parser : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<message_parser> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf
