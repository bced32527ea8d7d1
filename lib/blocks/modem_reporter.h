/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/block_details.h"
#include "modem/track/channel_report.h"
#include <hf/modem.h>

#include <hf/modem_user.h>

#include <gnuradio/basic_block.h>

#include <mutex>

namespace gr::hf {

/*! \brief Reports of a modem block: messages to the user of the modem (port "modem") and
 *         to displays and logs (port "status"), and the state that programs read.
 *
 * Events come from one thread. Any thread may call state().
 */
class modem_reporter
{
public:
    explicit modem_reporter(gr::basic_block& block) : d_block(block) {}

    void tx_start(station_time now, const mode& m);
    void tx_end(station_time now);
    void rx_start(station_time now, const hf::rx_start& e);
    void rx_octets(station_time now, const hf::rx_octets& e);
    //! For displays: the channel during the block before.
    void channel(station_time now, const kernel::channel_report& c);
    //! For displays, on port "blocks": the receiver's details of the block; null: none.
    void block(station_time now,
               const hf::rx_octets& e,
               const kernel::channel_report& c,
               const kernel::block_details* d);
    void rx_end(station_time now, const hf::rx_end& e);
    void carrier(station_time now, bool present);
    void tx_damaged(station_time now, uint64_t transmission, const std::string& reason);
    //! \p octets were accepted for a transmission.
    void sent(size_t octets);
    //! The user of the modem did not answer in time.
    void late_answer();
    void at(station_time now);

    modem_state state() const;

private:
    void tell(const pmt::pmt_t& msg);

    gr::basic_block& d_block;
    mutable std::mutex d_mutex;
    modem_state d_state;
};

} // namespace gr::hf
