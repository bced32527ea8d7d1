/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "channel/shared_air.h"

#include <hf/air.h>

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace gr::hf {

class air_impl : public air, public std::enable_shared_from_this<air_impl>
{
public:
    air_impl(int stations,
             const std::string& channel,
             uint64_t seed,
             double speed,
             double signal_power,
             double duration_s,
             double delay_ms,
             int bandwidth);

    std::shared_ptr<gr::sync_block> source(int station) override;
    std::shared_ptr<gr::sync_block> sink(int station) override;
    void set_speed(double speed) override;
    void set_channel(const std::string& channel) override;
    void end() override;
    double now() const override;

    //! Take \p n transmitted samples of \p station; false after the end.
    bool write(int station, const gr_complex* samples, size_t n);
    /*! \brief Up to \p n samples that \p station hears. Waits a short time for them.
     *  \return 0: none yet, ask again; -1: the air has ended
     */
    int read(int station, gr_complex* samples, size_t n);

    //! Buffer size of a half: 50 ms, a few ticks.
    size_t buffer_samples() const { return static_cast<size_t>(0.05 * d_sample_rate); }

private:
    using clock = std::chrono::steady_clock;

    struct halves {
        bool has_source = false;
        bool has_sink = false;
        bool has_channel = true; // as d_options say
    };

    void check_station(int station) const;
    size_t available(size_t station) const;
    size_t paced(uint64_t position, size_t n, double& wait_s);

    kernel::air_options d_options;
    kernel::shared_air d_air;
    const double d_sample_rate;
    const uint64_t d_end; // end of the streams, samples
    double d_speed;
    bool d_ended = false;
    std::vector<halves> d_halves;
    mutable boost::mutex d_mutex;
    boost::condition_variable d_changed;
    boost::condition_variable d_taken; // samples, by a listener
    // Pace: sample d_pace_sample was due at d_pace_time.
    clock::time_point d_pace_time;
    uint64_t d_pace_sample = 0;
    bool d_started = false;
};

} // namespace gr::hf
