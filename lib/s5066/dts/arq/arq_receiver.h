/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"
#include "s5066/pdu/fsn.h"

#include <deque>
#include <optional>
#include <utility>

namespace gr::hf::s5066 {

/*! \brief Receiving half of the selective repeat ARQ with one peer (C.6.2): window,
 *         acknowledgement, reassembly, delivery in order or as they arrive.
 */
class arq_receiver
{
public:
    //! \param large frame sequence numbers modulo 65536
    explicit arq_receiver(bool large = false) : d_space(large) { reset(); }

    //! Empties the window: RX LWE = \p lwe; incomplete C_PDUs are dropped.
    void reset(uint16_t lwe = 0);
    /*! \brief True if the same number was received before with other content. The segment
     *         then belongs to another numbering.
     *  \details A peer that restarted counts from 0 again and sends data together with
     *         its link request. If the request is lost, this tells its data from those of
     *         the previous link.
     */
    bool contradicts(const arq_header& h, const std::vector<uint8_t>& segment) const;
    /*! \brief A reception starts.
     *  \details Its segments complete no C_PDU of earlier receptions until its numbering
     *         is known to be the same: see may_join().
     */
    void begin_reception();
    /*! \brief The present reception has the same numbering as those before.
     *  \details A peer that has restarted, or has given up the link, counts from 0 again
     *         and sends its link request first. So each of these proves it:
     *         - no octet before this D_PDU was lost, and there was no link request
     *         - the sender's LWE is not 0: it has received our acknowledgements
     *         - it acknowledges data of ours: its RX LWE is not 0
     *         - it skips segments that we have, see took_place()
     *         - it repeats the request of this link
     */
    void same_numbering();
    /*! \brief The peer begins a new numbering, and its link request arrived late in this
     *         reception: what may_join() would have doubted belongs to it already.
     *  \details C_PDUs that are complete in the new numbering come from take_ready().
     */
    void restart();
    //! C_PDUs for the layer above that restart() completed.
    std::vector<std::vector<uint8_t>> take_ready() { return std::exchange(d_ready, {}); }
    /*! \brief A segment takes these bits of the present reception. If it follows directly
     *         one with a lower number, and we have all numbers between them, the sender
     *         knows that we have them.
     *  \details The copies that fill the end of a first transmission may skip numbers, too.
     *         They contradict() what we have before RX LWE.
     */
    void took_place(const arq_header& h, uint64_t begin_bit, uint64_t end_bit);
    /*! \brief False if the segment would be put together with segments of an earlier
     *         reception although it may have another numbering. C_PDUs have no CRC.
     *  \details It then counts as not received. A sender that has our acknowledgement
     *         proves its numbering with the repeat. After two such receptions the third
     *         is trusted, for senders that never prove it.
     */
    bool may_join(const arq_header& h);
    //! Synchronisation tests 1 to 3.
    bool in_sync(const arq_header& h) const;
    /*! \brief Takes a segment that is in sync.
     *  \param h its header
     *  \param segment its octets
     *  \param ok false: wrong segment CRC; such a segment counts only with the DROP flag
     *  \param delivered C_PDUs ready for the layer above are appended
     *  \return false for a duplicate or a damaged segment
     */
    bool take(const arq_header& h,
              const std::vector<uint8_t>& segment,
              bool ok,
              std::vector<std::vector<uint8_t>>& delivered);
    //! True if a segment of \p octets that is in sync would be new.
    bool wants(const arq_header& h, size_t octets) const;
    /*! \brief Takes a damaged copy of a segment that is in sync.
     *  \param octets the segment and its CRC as received
     *  \return the good segment, if this and an earlier damaged copy suffice for it
     */
    std::optional<std::vector<uint8_t>> repair(const arq_header& h,
                                               const std::vector<uint8_t>& octets);
    //! Present acknowledgement; with large windows it may not reach RX UWE.
    ack_header ack() const;
    /*! \brief The whole acknowledgement for ACK-ONLY D_PDUs: one header and, with large
     *         windows, the continuations needed. Each is valid without the others.
     */
    std::vector<ack_header> acks() const;
    uint16_t lwe() const { return d_lwe; }
    //! True if a number is missing or a C_PDU is incomplete.
    bool incomplete() const { return d_inside || missing() > 0; }
    //! True if anything was received since reset().
    bool advanced() const { return d_advanced; }

    /*! \brief Most segment octets kept beyond RX LWE with large windows. When they are
     *         used up, only the segment at RX LWE is accepted and acknowledged.
     */
    static constexpr size_t max_held_octets = size_t{ 1 } << 23;

private:
    // Longest bitmaps, octets: types 1 and 2 (small), 10 and 11 (large), type 10 alone,
    // its continuations.
    static constexpr size_t max_selective_small = 16, max_selective_large = 19;
    static constexpr size_t max_selective_alone = 23, max_continuation = 20;

    struct slot {
        bool have = false;
        bool start = false;
        bool end = false;
        bool drop = false;
        bool delivered = false;
        uint64_t reception = 0;
        uint32_t digest = 0;
        std::vector<uint8_t> segment;
        std::vector<uint8_t> damaged; // last damaged copy, with its CRC
    };
    // A segment of the present reception, while its numbering is unknown.
    struct unproven {
        arq_header h;
        std::vector<uint8_t> segment;
        bool delivered; // its C_PDU is complete
    };
    // Numbers before RX LWE whose digest is kept.
    static constexpr size_t max_past = 1024;
    static uint32_t digest(const arq_header& h, const std::vector<uint8_t>& segment);
    // Receptions in a row with doubtful segments before the sender is trusted.
    static constexpr unsigned max_doubts = 2;
    // Longest C_PDU to reassemble; longer ones are dropped.
    static constexpr size_t max_c_pdu = 128 * max_segment;

    void move_lwe(std::vector<std::vector<uint8_t>>& delivered);
    void deliver_early(size_t at, std::vector<std::vector<uint8_t>>& delivered);
    void note_delivered(uint16_t first, uint16_t last);

    bool of_earlier_reception(size_t at) const
    {
        return have(at) && d_slots[at].reception != d_reception;
    }
    bool have(size_t at) const { return at < d_slots.size() && d_slots[at].have; }
    bool room_for(size_t at, size_t octets) const;
    // Length of the range from RX LWE to RX UWE.
    unsigned missing() const;
    std::vector<uint8_t> selective(unsigned from, size_t octets) const;

    fsn_space d_space;
    std::deque<slot> d_slots; // d_slots[0] is RX LWE
    std::deque<uint32_t>
        d_past;        // digests, d_past[0] is RX LWE - 1; 0: nothing to compare
    size_t d_held = 0; // octets in d_slots
    uint16_t d_lwe = 0;
    uint16_t d_uwe = 0;
    bool d_advanced = false;
    std::vector<uint8_t> d_partial; // C_PDU being reassembled at RX LWE
    bool d_inside = false;
    bool d_discard = false;      // this C_PDU is dropped or already delivered
    uint64_t d_reception = 0;    // counts receptions
    uint64_t d_partial_from = 0; // reception of the last segment of d_partial
    bool d_same = true;          // the present reception has this numbering
    // The last segment of this reception, and where it ends; 0: there is none.
    struct {
        uint16_t fsn = 0;
        uint64_t end_bit = 0;
    } d_last;
    bool d_doubted = false; // a segment of it was refused by may_join()
    unsigned d_doubts = 0;  // earlier receptions in a row with such segments
    std::vector<unproven> d_unproven;
    std::vector<std::vector<uint8_t>> d_ready; // for take_ready()
    uint16_t d_partial_begin = 0;              // number of the first segment of d_partial
};

} // namespace gr::hf::s5066
