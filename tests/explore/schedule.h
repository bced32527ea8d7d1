/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/*! \file
 *  A schedule: what goes wrong, and at which transmission. Everything else about a run is
 *  fixed, so the text of a schedule replays it.
 */
namespace gr::hf::explore {

//! Kind of a fault. The letter is that of the text.
enum class fault_kind : char {
    lost = 'L',           //!< nobody hears the transmission
    header = 'H',         //!< the header of one D_PDU is damaged, so the D_PDU is lost
    segment = 'S',        //!< the segment of one D_PDU is damaged, its header is good
    end = 'E',            //!< the end of message is not recognised
    unread = 'P',         //!< nobody finds the preamble, but all sense the signal
    no_end = 'X',         //!< no receiver reports an end of the reception
    carrier = 'C',        //!< a carrier that is none, for 3 s after the transmission
    stuck = 'N',          //!< the same, and it never ends
    restart_sender = 'R', //!< the sender restarts 1 ms after the start
    restart_other = 'Q',  //!< the receiver restarts 1 ms after the end
    submit = 'U', //!< not a fault: the receiver's client sends once more at the end
    forged = 'F', //!< a third station answers in the name of the receiver
};

//! One fault.
struct fault {
    unsigned transmission = 0; //!< from 0, over all stations, in the order of their start
    fault_kind kind = fault_kind::lost;
    //! For header and segment: which D_PDU of the transmission. For forged: a forgery.
    unsigned d_pdu = 0;

    bool operator<(const fault& o) const
    {
        return std::tie(transmission, kind, d_pdu) <
               std::tie(o.transmission, o.kind, o.d_pdu);
    }
    bool operator==(const fault& o) const { return !(*this < o) && !(o < *this); }
};

//! Faults in order.
using schedule = std::vector<fault>;

//! "3L,5H1,7Q". Empty for no fault.
std::string to_string(const schedule& s);
//! Reads the text of a schedule. Empty if it is none.
std::optional<schedule> parse_schedule(const std::string& text);

/*! \brief Whether a schedule with \p more added is still one that we run.
 *  \details At most two damaged segments, two false carriers, one restart and one extra
 *         submission. The number of faults is limited by the search.
 */
bool may_add(const schedule& s, const fault& more);

} // namespace gr::hf::explore
