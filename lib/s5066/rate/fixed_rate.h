/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/adaptive_rate.h"

namespace gr::hf::s5066 {

/*! \brief One mode for data; for acknowledgements that of a few which costs least time.
 *
 * The time that an acknowledgement costs is its own and, with the probability that it is lost, that
 * of asking for it again. The probability comes from what was measured of the receiver
 * (measured_block_errors()), at the SNR at which the peer is heard: without fading, or on the Poor
 * channel if its level changes from block to block or more is lost than without fading.
 */
class fixed_rate_policy : public rate_policy
{
public:
    /*! \param data of transmissions with data
     *  \param acks of those without, not empty; the first one until the peer has been heard
     *  \param lost_ack_s what it costs that one is lost, in seconds
     */
    fixed_rate_policy(const mode& data, std::vector<mode> acks, double lost_ack_s)
        : d_data(data), d_acks(std::move(acks)), d_lost_ack_s(lost_ack_s)
    {
    }
    mode choose(station_time now, const tx_context& c) override;
    void on_reception(station_time now, address peer, const reception& r) override;

    /*! \brief Time that an acknowledgement costs on average, in seconds.
     *  \param m its mode
     *  \param channel of measured_block_errors()
     *  \param snr_db in its bandwidth
     *  \param lost_ack_s what it costs that it is lost
     */
    static double
    cost_s(const mode& m, const std::string& channel, double snr_db, double lost_ack_s);

private:
    struct station {
        rate_estimator in; // SNR of what is heard from it
        double surprise_loss =
            0; // share of its octets lost that would not be without fading
    };
    const char* channel_of(const station& s) const;

    mode d_data;
    std::vector<mode> d_acks;
    double d_lost_ack_s;
    std::map<uint32_t, station> d_stations; // by raw address
};

} // namespace gr::hf::s5066
