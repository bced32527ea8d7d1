/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::ale {

/*! \brief Notices that the peer of a link is out of reach at once: waits of the data link in
 *         a row in which nothing at all was heard.
 *  \details A fade loses an answer, but its preamble or its carrier is still noticed. A
 *  peer that was never heard in this link is no reason to leave the channel.
 */
class answer_watch
{
public:
    //! A link starts.
    void clear()
    {
        d_vain = 0;
        d_heard = d_known = false;
    }
    //! A transmission of ours starts. What was heard before is no answer to it.
    void keyed() { d_heard = false; }
    //! A preamble, octets or a carrier were received.
    void heard()
    {
        d_heard = d_known = true;
        d_vain = 0;
    }
    //! \param unanswered waits in a row without an answer, as the data link counts them
    void note(unsigned unanswered)
    {
        if (unanswered > d_unanswered && d_known && !d_heard)
            ++d_vain;
        if (unanswered != d_unanswered)
            d_heard = false; // the next wait begins
        d_unanswered = unanswered;
    }
    //! Waits in a row in which nothing was heard.
    unsigned vain() const { return d_vain; }

private:
    unsigned d_unanswered = 0, d_vain = 0;
    bool d_heard = false; // since our transmission or the last wait
    bool d_known = false; // the peer was heard in this link
};

} // namespace gr::hf::ale
