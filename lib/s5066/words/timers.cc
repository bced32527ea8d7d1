/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/words/timers.h"

namespace gr::hf::s5066 {

const std::array<timer_info, 11>& all_timers()
{
    static const std::array<timer_info, 11> all = { {
        { timer::turn,
          "turn",
          "share_cycle_s, back-off of 200 s at most",
          "",
          "the next transmission begins" },
        { timer::answer,
          "answer",
          "2.5 s and the longest preamble",
          "",
          "the peer has not answered: its silence is counted, and data are repeated" },
        { timer::carrier,
          "carrier",
          "180 s",
          "",
          "a carrier that nothing is read from counts as interference" },
        { timer::reception_end,
          "reception_end",
          "EOT, or 180 s without a D_PDU",
          "C.3.2.3",
          "a reception ends, though the receiver still waits" },
        { timer::transmission_end,
          "transmission_end",
          "the planned end and 30 s",
          "",
          "the modem has not reported the end of a transmission: it counts as over" },
        { timer::housekeeping,
          "housekeeping",
          "1 s",
          "",
          "times to live, idle links (link_idle_s) and old reassemblies "
          "are checked" },
        { timer::hard_link_answer,
          "hard_link_answer",
          "hard_link_response_s, hard_link_client_s",
          "A.3.2.2",
          "a hard link that nobody answers is given up" },
        { timer::hard_link_end,
          "hard_link_end",
          "hard_link_end_s",
          "A.3.2.2",
          "a hard link ends without the confirmation of the other node" },
        { timer::held_u_pdu,
          "held_u_pdu",
          "TTL of the U_PDU",
          "A.2.1.6",
          "a U_PDU that waits for the end of a hard link is rejected" },
        { timer::client_confirm,
          "client_confirm",
          "600 s",
          "A.3.1.2",
          "the far client has not confirmed: the U_PDU is rejected" },
        { timer::keep_alive,
          "keep_alive",
          "keep_alive_s, 10 s for the answer",
          "A.2.1.17",
          "S_KEEP_ALIVE is sent, or a client that did not answer it is unbound" },
    } };
    return all;
}

} // namespace gr::hf::s5066
