/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/adaptive_rate.h"

namespace gr::hf::s5066 {

//! The modes of the rate of \p data with shorter interleavers.
std::vector<mode> shorter_interleavers(const mode& data);

/*! \brief Uses one rate for data. For acknowledgements it uses the mode out of a few that
 *         costs the least time.
 *
 * A message that does not fill a block of the data mode goes out in another mode, a shorter
 * interleaver of that rate, if it costs less time there. After one without an answer the next ones do
 * not: 1, then 2, 4 .. 64.
 *
 * An acknowledgement costs its own time and, if it is lost, the time to ask for it again.
 * The probability of a loss comes from the measured block errors of the receiver
 * (measured_block_errors()), at the SNR at which the peer is heard. The channel is the
 * one without fading. It is Poor if the level changes from block to block, or if more is
 * lost than without fading.
 *
 * The way back may be worse than the way here. So after two acknowledgements in a row that
 * were not heard the next ones go in a slower mode. After 16 that were heard a faster one is tried.
 */
class fixed_rate_policy : public rate_policy
{
public:
    /*! \param data mode of transmissions with data
     *  \param acks modes of those without, not empty; the first one until the peer has
     *         been heard
     *  \param messages modes of messages that do not fill a block, beside \p data
     *  \param lost_ack_s cost of a lost acknowledgement, in seconds
     *  \param slower modes of acknowledgements where those of \p acks are not heard
     */
    fixed_rate_policy(const mode& data,
                      std::vector<mode> acks,
                      std::vector<mode> messages,
                      double lost_ack_s,
                      std::vector<mode> slower = {});
    mode choose(station_time now, const tx_context& c) override;
    mode_reason why() const override { return d_why; }
    void on_reception(station_time now, address peer, const reception& r) override;
    void on_frames(station_time now, address peer, const sent_data& d) override;
    void on_silence(station_time now, address peer) override;

    //! What is sent: one octet string, some times over.
    struct message {
        size_t octets;
        unsigned copies;
    };
    //! An ACK-ONLY D_PDU with a few octets of selective acknowledgement.
    static constexpr message acknowledgement{ 24, 2 };

    /*! \brief Average time until a message is across, in seconds.
     *  \param what of which one copy must arrive
     *  \param m its mode
     *  \param channel a name for measured_block_errors()
     *  \param snr_db in the bandwidth of \p m
     *  \param lost_s cost of a lost message, in seconds
     */
    static double cost_s(const message& what,
                         const mode& m,
                         const std::string& channel,
                         double snr_db,
                         double lost_s);

private:
    struct station {
        rate_estimator in;        // SNR of receptions from the station
        double surprise_loss = 0; // share of octets lost beyond the loss without fading
        std::optional<mode> sent_shorter; // the message under way
        unsigned wait = 1;                // messages in the data mode after a failure
        unsigned waits_left = 0;
        bool answered = false; // by our last transmission, an acknowledgement alone
        size_t fallen = 0;     // steps down in d_slower
        // Acknowledgements in a row since the last step, heard there and lost.
        unsigned heard_there = 0, lost_there = 0;
    };
    void note_answer(station& s, bool lost) const;
    mode message_mode(station& s, const tx_context& c) const;
    mode cheapest(const station& s, const message& what, std::vector<mode> modes) const;
    const char* channel_of(const station& s) const;

    mode d_data;
    std::vector<mode> d_acks;
    std::vector<mode> d_messages;
    std::vector<mode> d_slower;
    mode d_call; // until somebody was heard: long enough to be noticed in a collision
    double d_lost_ack_s;
    std::map<uint32_t, station> d_stations; // by raw address
    mode_reason d_why = mode_reason::setting;
};

} // namespace gr::hf::s5066
