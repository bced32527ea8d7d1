/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/transmission.h"
#include "s5066/dts/tx/transmission_plan.h"

#include <cstddef>

namespace gr::hf::s5066 {

//! A U_PDU of this priority or a higher one ends the transmission to another peer. Our
//! choice: that of questions of DNS, and of IP packets of class 6 and 7 (Annex F.12).
constexpr uint8_t interrupting_priority = 12;

/*! \brief Limits and best length of the present transmission: what fills its blocks best,
 *         and how short it is while an application waits for the other side's turns.
 */
class transmission_length
{
public:
    //! \param tx the present transmission
    transmission_length(const node_context& node,
                        const channel_access& access,
                        transmission& tx)
        : d_node(node), d_access(access), d_tx(tx)
    {
    }

    //! Octets of a data D_PDU besides its segment.
    size_t data_overhead() const;
    //! The same for types 7 and 8.
    size_t non_arq_overhead() const;
    /*! \brief Earliest repeat of data without ARQ of this transmission: one interleaver
     *         block and the longest wait for the channel after its end.
     *  \details What the transmission lost was lost in spite of the interleaver, so its
     *  cause lasts longer than a block. All others may start in the meantime. If they do
     *  not, the repeat starts then, so its time to live is enough or not.
     */
    next_start earliest_repeat() const;
    //! Longest transmission to \p p while an application waits for its turn, s.
    double prompt_longest_s(station_time now, const peer& p) const;
    //! Least duration of transmissions to \p p while an application waits for its turn.
    station_time prompt_least(const peer& p) const
    {
        return from_seconds(prompt_least_s(p));
    }
    //! True if it is kept short for a conversation while more than fits waits.
    bool quick(const peer& p) const;
    /*! \brief An application starts to wait during the transmission: it ends soon, with
     *         room for \p octets.
     *  \return true if it ends before the usual length while an application waits
     */
    bool shorten(const peer& p, size_t octets);
    /*! \brief Data of \ref interrupting_priority for another peer have arrived during the
     *         transmission: it ends at the next block boundary that its D_PDUs can still
     *         announce.
     *  \param plan of this transmission, which may not have been used yet
     *  \details Not before prompt_least(), so that urgent data for many cost the others
     *         little.
     */
    void make_way(transmission_plan& plan);
    /*! \brief Largest number of its blocks.
     *  \param longest_s limit of the rate policy and the turn
     *  \param contended other stations may have started at the same time
     *  \param need octets of what goes first
     */
    size_t
    allowed_blocks(const peer& p, double longest_s, bool contended, size_t need) const;
    //! Blocks needed for one data D_PDU after \p before octets. With fewer, neither this
    //! transmission nor the next would carry data.
    size_t min_blocks(const peer& p, size_t before) const;
    //! How many blocks carry most octets per second of the whole turn, at most \p longest,
    //! if \p before octets go before the data.
    size_t fitting_blocks(const peer& p, size_t before, size_t longest) const;

private:
    double turn_s(const peer& p) const;
    double prompt_least_s(const peer& p) const;
    double quick_s(const peer& p) const;
    //! Octets of ARQ C_PDUs that wait for \p p, of at least \p priority.
    size_t waiting_from(const peer& p, unsigned priority) const;

    const node_context& d_node;
    const channel_access& d_access;
    transmission& d_tx;
};

} // namespace gr::hf::s5066
