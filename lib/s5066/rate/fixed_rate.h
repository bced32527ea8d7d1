/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/adaptive_rate.h"

namespace gr::hf::s5066 {

/*! \brief Uses one mode for data. For acknowledgements it uses the mode out of a few that
 *         costs the least time.
 *
 * An acknowledgement costs its own time and, if it is lost, the time to ask for it again.
 * The probability of a loss comes from the measured block errors of the receiver
 * (measured_block_errors()), at the SNR at which the peer is heard. The channel is the
 * one without fading. It is Poor if the level changes from block to block, or if more is
 * lost than without fading.
 */
class fixed_rate_policy : public rate_policy
{
public:
    /*! \param data mode of transmissions with data
     *  \param acks modes of those without, not empty; the first one until the peer has
     *         been heard
     *  \param lost_ack_s cost of a lost acknowledgement, in seconds
     */
    fixed_rate_policy(const mode& data, std::vector<mode> acks, double lost_ack_s)
        : d_data(data), d_acks(std::move(acks)), d_lost_ack_s(lost_ack_s)
    {
    }
    mode choose(station_time now, const tx_context& c) override;
    void on_reception(station_time now, address peer, const reception& r) override;

    /*! \brief Average time that an acknowledgement costs, in seconds.
     *  \param m its mode
     *  \param channel a name for measured_block_errors()
     *  \param snr_db in the bandwidth of \p m
     *  \param lost_ack_s cost of a lost acknowledgement, in seconds
     */
    static double
    cost_s(const mode& m, const std::string& channel, double snr_db, double lost_ack_s);

private:
    struct station {
        rate_estimator in;        // SNR of receptions from the station
        double surprise_loss = 0; // share of octets lost beyond the loss without fading
    };
    const char* channel_of(const station& s) const;

    mode d_data;
    std::vector<mode> d_acks;
    double d_lost_ack_s;
    std::map<uint32_t, station> d_stations; // by raw address
};

} // namespace gr::hf::s5066
