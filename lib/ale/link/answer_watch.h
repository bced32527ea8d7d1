/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::ale {

/*! \brief Notices that the peer of a link is out of reach at once: waits of the data link in
 *         a row without an answer, and nothing at all was heard in the last one.
 *  \details A fade loses an answer, but its preamble or its carrier is still noticed. A
 *  channel may die in the middle of an answer, so the waits before may have had one. A peer
 *  that was never heard in this link is no reason to leave the channel.
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
    void heard() { d_heard = d_known = true; }
    //! \param unanswered waits in a row without an answer, as the data link counts them
    void note(unsigned unanswered)
    {
        if (unanswered == d_unanswered)
            return;
        d_vain = unanswered > d_unanswered ? d_vain + 1 : 0;
        d_silent = !d_heard;
        d_heard = false; // the next wait begins
        d_unanswered = unanswered;
    }
    /*! \brief The peer is out of reach.
     *  \param most waits in a row without an answer, in this link
     */
    bool out_of_reach(unsigned most) const
    {
        return d_known && d_vain >= most && d_silent && !d_heard;
    }

private:
    unsigned d_unanswered = 0, d_vain = 0;
    bool d_silent = false; // in the last wait
    bool d_heard = false;  // since our transmission or the last wait
    bool d_known = false;  // the peer was heard in this link
};

} // namespace gr::hf::ale
