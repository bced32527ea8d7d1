/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"
#include "sim/air/fading.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace gr::hf::sim {

//! Bulk ARQ over a changing channel.
struct rate_trial {
    std::string mode = "auto"; //!< mode of both stations
    std::string back_mode;     //!< mode of the second station, which answers; empty: the
                               //!< same
    //! Rule that chooses the modes of both stations instead of ours, see
    //! published_rate_policy(). Empty: ours.
    std::string rule;
    //! Both directions, with independent fading. signal_power 0: that of
    //! reference_mode().
    trace_config channel;
    std::optional<double> back_mean_db; //!< mean for the way back; empty: the same
    double duration_s = 3600;
    uint64_t seed = 1;
    s5066::node_config base;                     //!< further settings of both stations
    std::function<void(const std::string&)> log; //!< gets the log lines of both stations
};

//! Result.
struct rate_trial_result {
    double goodput_bps = 0; //!< delivered U_PDU bits divided by the time
    double oracle_bps = 0;  //!< goodput of the best fixed mode of each minute
    uint64_t transmissions = 0;
    uint64_t silent_rounds = 0;
    uint64_t links_failed = 0;
    std::map<std::string, double> air_time_s; //!< air time of data, by mode
    uint64_t altered = 0;                     //!< U_PDUs that differ from those sent
};

//! \throws std::invalid_argument as the parts of \p t
rate_trial_result run(const rate_trial& t);

} // namespace gr::hf::sim
