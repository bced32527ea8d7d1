/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "blocks/sis_client_block.h"
#include "slep/client_driver.h"

#include <gnuradio/hier_block2.h>
#include <hf/ticker.h>

namespace gr::hf {

/*! \brief A sis_client_block whose engine has the calls of every subnetwork client:
 *         sis_in(), poll_sis(), next_deadline(), on_deadline().
 */
template <class Engine>
class engine_block : public sis_client_block
{
protected:
    template <class Config>
    engine_block(const std::string& netns, const Config& config)
        : sis_client_block(netns), d_engine(config)
    {
    }

    void engine_sis_in(station_time now, const uint8_t* p, size_t n) final
    {
        d_engine.sis_in(now, p, n);
    }
    void engine_run_deadlines(station_time now) final
    {
        slep::run_deadlines(d_engine, now);
    }
    void engine_exchange() final
    {
        slep::exchange(
            d_engine,
            [this] { return engine_drain(); },
            [this](const std::vector<uint8_t>& primitive) { send(primitive); });
    }

    //! On the io_thread only.
    Engine& engine() { return d_engine; }

private:
    Engine d_engine;
};

/*! \brief Places \p core inside \p outer, with its ports sis and log. With \p real_time a
 *         ticker drives it without a modem in the flowgraph.
 *  \return the ticker, or none
 */
inline ticker::sptr
put_inside(gr::hier_block2& outer, const gr::block_sptr& core, bool real_time)
{
    const auto sis = pmt::mp("sis");
    outer.message_port_register_hier_in(sis);
    outer.message_port_register_hier_out(sis);
    outer.msg_connect(outer.self(), sis, core, sis);
    outer.msg_connect(core, sis, outer.self(), sis);
    const auto log = pmt::mp("log");
    outer.message_port_register_hier_out(log);
    outer.msg_connect(core, log, outer.self(), log);
    if (!real_time)
        return nullptr;
    auto ticks = ticker::make();
    outer.msg_connect(ticks, pmt::mp("ticks"), core, sis);
    return ticks;
}

} // namespace gr::hf
