/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::kernel {

/*! \brief How much a playback device is to hold: longer after the host stalled, for a while.
 *
 * What it holds bridges stalls of the host and delays every answer. A host that stalled for some
 * time will again, so that the buffer grows by what it lacked. It is as short as before after a
 * minute without a stall. A stall that no buffer bridges changes nothing.
 */
class buffer_target
{
public:
    static constexpr double most_s = 0.5; //!< longest buffer
    static constexpr double quiet_s = 60; //!< without a stall, until it is short again

    //! \param usual_s without stalls, at most most_s
    explicit buffer_target(double usual_s) : d_usual_s(usual_s), d_wanted_s(usual_s) {}

    //! The device was empty for \p s seconds, noticed at \p now of a steady clock, s.
    void lacked(double s, double now)
    {
        if (d_wanted_s + s > most_s)
            return;
        d_wanted_s += s;
        d_stalled_at = now;
    }
    //! The clock is at \p now.
    void at(double now)
    {
        if (now - d_stalled_at >= quiet_s)
            d_wanted_s = d_usual_s;
    }
    double wanted_s() const { return d_wanted_s; }
    //! Of that, what stalls have added: answers come so much later.
    double added_s() const { return d_wanted_s - d_usual_s; }

private:
    double d_usual_s, d_wanted_s;
    double d_stalled_at = 0;
};

} // namespace gr::hf::kernel
