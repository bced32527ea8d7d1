/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/air/lock_step_pair.h"
#include "sim/stations/proxy_link.h"

#include <optional>

namespace gr::hf::sim {

//! The proxies over real waveforms, sample by sample, in one thread.
class real_proxies : public proxy_link
{
public:
    /*! \param mode_text mode of data, both directions
     *  \throws std::invalid_argument as the configurations
     */
    real_proxies(const std::string& mode_text,
                 const waveform_link& link,
                 uint64_t seed = 1,
                 const changes& change = {});

    tcp_host& edge(size_t station) override { return d_proxies[station]->engine; }
    //! \details Input of an edge waits for the next tick.
    void drain() override {}
    bool run_for(double seconds, const std::function<bool()>& done) override;
    station_time now() const override { return d_pair.now(); }
    const s5066::node& node(size_t station) const override
    {
        return d_pair.node(station);
    }

private:
    //! A proxy whose applications act at each of its calls.
    class proxy : public lock_step_engine<tcp_host>
    {
    public:
        using lock_step_engine::lock_step_engine;
        void sis_in(station_time now, const std::vector<uint8_t>& primitive) override
        {
            lock_step_engine::sis_in(now, primitive);
            engine.work(now);
        }
        void tick(station_time now) override
        {
            lock_step_engine::tick(now);
            engine.work(now);
        }
    };

    lock_step_pair d_pair;
    std::array<std::optional<proxy>, 2> d_proxies; // configured from what the nodes
                                                   // report
};

} // namespace gr::hf::sim
