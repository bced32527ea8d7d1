/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/air/lock_step.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::sim {

//! Real waveforms between two stations.
struct waveform_link {
    std::string channel = "awgn snr=30"; //!< see channel_spec
    /*! \brief Mean power of a transmission, the reference of snr=. 0: that of
     *         reference_mode().
     *  \details Modes that take turns on one air differ by up to 2 dB at the same peak.
     */
    double signal_power = 0;
    int effort = 1; //!< effort of the receivers, see rx_options
};

//! A mode, or the fastest of an adaptive range. \throws std::invalid_argument
mode fastest_mode(const std::string& text);
//! The mode whose power an SNR refers to: rate_range::reference().
//! \throws std::invalid_argument
mode reference_mode(const std::string& text);

//! Two stations in lock step on the air of their mode.
class lock_step_pair
{
public:
    /*! \param nodes the first sets the mode, and so the bandwidth, and whether log lines
     *         are kept
     *  \param seed of the channel
     *  \throws std::invalid_argument as the parts
     */
    lock_step_pair(const std::array<s5066::node_config, 2>& nodes,
                   const waveform_link& link,
                   uint64_t seed);

    //! \p c must outlive the pair. \param station 0 or 1
    void attach(size_t station, lock_step_client& c) { d_stations[station].attach(c); }
    //! As lock_step::run_until().
    bool run_until(const std::function<bool()>& done, station_time limit)
    {
        return d_both.run_until(done, limit);
    }
    station_time now() const { return d_both.now(); }
    const s5066::node& node(size_t station) const { return d_stations[station].node(); }
    //! Station time (s) and line of both logs, prefixed by A or B.
    std::vector<std::pair<double, std::string>> log;

private:
    lock_step_pair(const std::array<s5066::node_config, 2>& nodes,
                   const waveform_link& link,
                   uint64_t seed,
                   const kernel::half_duplex_options& modem);

    std::array<lock_step_station, 2> d_stations;
    lock_step d_both;
};

} // namespace gr::hf::sim
