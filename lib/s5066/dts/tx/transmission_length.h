/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/transmission.h"

#include <cstddef>

namespace gr::hf::s5066 {

/*! \brief How long the present transmission may be and should be: its limits, what fills its blocks
 *         best, and how short it is while somebody waits for the other side's turns.
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
    //! The same with types 7 and 8.
    size_t non_arq_overhead() const;
    //! Longest transmission to \p p while somebody waits for its turn, s.
    double prompt_longest_s(station_time now, const peer& p) const;
    //! Length of transmissions to \p p that are sent while somebody waits for its turn.
    station_time prompt_least(const peer& p) const
    {
        return from_seconds(prompt_least_s(p));
    }
    //! It is kept short because a conversation goes on, and more than fits waits.
    bool quick(const peer& p) const;
    /*! \brief While it is sent, somebody begins to wait: it ends soon, with room for so many octets.
     *  \return it ends before it would be as long as transmissions are while somebody waits
     */
    bool shorten(const peer& p, size_t octets);
    /*! \brief Most blocks of it.
     *  \param longest_s as the rate policy and the turn allow
     *  \param contended others may have begun at the same time
     *  \param need octets of what goes first
     */
    size_t
    most_blocks(const peer& p, double longest_s, bool contended, size_t need) const;
    //! Blocks that one D_PDU with data needs behind \p before octets; fewer would carry nothing, and
    //! the next transmission neither.
    size_t least_blocks(const peer& p, size_t before) const;
    //! Blocks, up to so many, that carry most in the time of the turn; \p before octets go first.
    size_t fitting_blocks(const peer& p, size_t before, size_t longest) const;

private:
    double turn_s(const peer& p) const;
    double prompt_least_s(const peer& p) const;
    double quick_s(const peer& p) const;
    //! Octets of C_PDUs with ARQ that wait for \p p, of this priority and more.
    size_t waiting_from(const peer& p, unsigned priority) const;

    const node_context& d_node;
    const channel_access& d_access;
    transmission& d_tx;
};

} // namespace gr::hf::s5066
