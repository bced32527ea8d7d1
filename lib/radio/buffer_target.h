/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::kernel {

/*! \brief Target level of a playback device's buffer. It is longer for a while after the
 *         host stalled.
 *
 * The buffer bridges stalls of the host, but delays every answer. A host that stalled
 * will stall again, so the buffer grows by the missing time. After a minute without a
 * stall it is short again. A stall that no buffer bridges changes nothing.
 */
class buffer_target
{
public:
    static constexpr double max_s = 0.5;  //!< longest buffer
    static constexpr double quiet_s = 60; //!< time without a stall until it is short
                                          //!< again

    //! \param usual_s without stalls, at most max_s
    explicit buffer_target(double usual_s) : d_usual_s(usual_s), d_wanted_s(usual_s) {}

    //! The device was empty for \p s seconds, noticed at time \p now of a steady clock,
    //! s.
    void lacked(double s, double now)
    {
        if (d_wanted_s + s > max_s)
            return;
        d_wanted_s += s;
        d_stalled_at = now;
    }
    //! The time is \p now.
    void at(double now)
    {
        if (now - d_stalled_at >= quiet_s)
            d_wanted_s = d_usual_s;
    }
    double wanted_s() const { return d_wanted_s; }
    //! Share added by stalls: the extra delay of answers.
    double added_s() const { return d_wanted_s - d_usual_s; }

private:
    double d_usual_s, d_wanted_s;
    double d_stalled_at = 0;
};

} // namespace gr::hf::kernel
