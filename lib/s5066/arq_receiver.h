/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/d_pdu.h"

#include <array>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Receiving half of the selective repeat ARQ with one peer (C.6.2): window,
 *         acknowledgement, reassembly, delivery in order or as they arrive.
 */
class arq_receiver
{
public:
    //! Empties the window: RX LWE = \p lwe, incomplete C_PDUs are dropped.
    void reset(uint8_t lwe = 0);
    //! Synchronisation tests 1 to 3.
    bool in_sync(const arq_header& h) const;
    /*! \brief Takes a segment that is in sync.
     *  \param h its header
     *  \param segment its octets
     *  \param ok false: segment CRC wrong; such a segment counts only with the DROP flag
     *  \param delivered C_PDUs that can be given to the layer above are appended
     *  \return false for a duplicate or a damaged one
     */
    bool take(const arq_header& h,
              const std::vector<uint8_t>& segment,
              bool ok,
              std::vector<std::vector<uint8_t>>& delivered);
    /*! \brief A damaged copy of a segment that is in sync.
     *  \param octets the segment and its CRC as received
     *  \return the good segment, if it follows from this and an earlier damaged copy
     */
    std::optional<std::vector<uint8_t>> repair(const arq_header& h,
                                               const std::vector<uint8_t>& octets);
    //! What to send back, as of now.
    ack_header ack() const;
    uint8_t lwe() const { return d_lwe; }
    //! Something is missing, or a C_PDU is not complete.
    bool incomplete() const { return d_inside || !ack().selective.empty(); }
    //! Anything was received since reset().
    bool advanced() const { return d_advanced; }

private:
    struct slot {
        bool have = false;
        bool start = false;
        bool end = false;
        bool in_order = false;
        bool drop = false;
        bool delivered = false;
        std::vector<uint8_t> segment;
        std::vector<uint8_t> damaged; // last damaged copy, with its CRC
    };
    // Longest C_PDU that is put together; longer ones are dropped.
    static constexpr size_t max_c_pdu = 128 * max_segment;

    void move_lwe(std::vector<std::vector<uint8_t>>& delivered);
    void deliver_early(uint8_t fsn, std::vector<std::vector<uint8_t>>& delivered);

    std::array<slot, 256> d_slots;
    uint8_t d_lwe = 0;
    uint8_t d_uwe = 255;
    bool d_advanced = false;
    std::vector<uint8_t> d_partial; // C_PDU that RX LWE is inside of
    bool d_inside = false;
    bool d_discard = false; // dropped or already delivered
};

} // namespace gr::hf::s5066
