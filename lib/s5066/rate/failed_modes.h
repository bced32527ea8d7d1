/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <array>

namespace gr::hf::s5066 {

/*! \brief Modes that have just failed, and modes of the same standard at that rate or faster.
 *
 * They are not advised for a while. The more often they fail in a row, the longer. Otherwise
 * every mode of a long list is tried where the reported SNR does not show why they fail, as
 * with fast fading that a modem does not report.
 */
class failed_modes
{
public:
    /*! \brief Takes the fate of a transmission.
     *  \param failed nearly nothing of it arrived
     *  \param level_db mean SNR of the link
     */
    void on_reception(const mode& m, bool failed, double level_db);
    //! False for a mode that would probably fail as well at \p level_db.
    bool allows(const mode& m, double level_db) const;

private:
    struct bar {
        int rate_bps = 0;    // of the failed mode
        double level_db = 0; // at which it failed
        unsigned left = 0;   // receptions until it is removed
        unsigned wait = 1;   // receptions of the next one
    };
    std::array<bar, 3> d_bars; // 4539, our robust family, 5069
};

} // namespace gr::hf::s5066
