/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/answer_reach.h"
#include "s5066/rate/failed_modes.h"
#include "s5066/rate/mode_ladder.h"
#include "s5066/rate/rate_estimator.h"
#include "s5066/rate/rate_policy.h"
#include "s5066/rate/rate_range.h"

#include <map>

namespace gr::hf::s5066 {

/*! \brief Rate adaptation for autobaud waveforms.
 *
 * Each station advises its peers, in any D_PDU, of the mode in which it would receive
 * best. The sender follows within its own range. It falls back at once when the peer does
 * not answer, and asks with a short transmission. Peers that send no advice are judged by
 * the SNR of their signal and by their acknowledgements. A group gets the fastest mode
 * that every station heard so far is expected to receive. A peer that has not shown that
 * it reads more gets the common modes of the range alone (rate_range::common_modes()).
 */
class adaptive_rate_policy : public rate_policy
{
public:
    //! \param window unacknowledged D_PDUs allowed, which bounds transmissions at high
    //! rates. Used unless on_window() reports that a peer has only small windows.
    explicit adaptive_rate_policy(const rate_range& range,
                                  unsigned window = usual_window);

    mode choose(station_time now, const tx_context& c) override;
    mode_reason why() const override { return d_why; }
    double longest_s(const tx_context& c) const override;
    void on_reception(station_time now, address peer, const reception& r) override;
    void on_frames(station_time now, address peer, const sent_data& d) override;
    void on_silence(station_time now, address peer) override;
    void on_new_channel(address peer) override;
    void on_window(address peer, bool large) override;
    void on_modes_read(address peer, modes_read r) override;
    void on_advice(station_time now, address peer, const mode& m) override;
    std::optional<mode> advice(address peer) const override;
    std::optional<size_t> segment_octets(address peer, const mode& m) const override;

private:
    // Tries of modes faster than the one in use.
    struct tries {
        std::optional<mode> tried; // mode advised to learn its performance
        unsigned whole = 0;        // receptions without loss since the last try
        // Receptions before a try, doubled by each failed try.
        unsigned whole_before_try = 1;
    };
    struct station {
        explicit station(unsigned window) : in(window), out(window) {}

        modes_read reads;               // besides 4539, in 3 kHz
        rate_estimator in;              // channel from the peer to us
        rate_estimator out;             // channel from us to the peer
        std::optional<mode> advised;    // the peer's last advice
        bool advised_fails = false;     // data sent in the advised mode seem to be lost
        unsigned unheard = 0;           // transmissions in it without an answer, in a row
        std::optional<mode> unheard_in; // mode of the last of them
        // Transmissions in other modes before it is tried again.
        unsigned patience = 0;
        mode last; // mode of the last data sent
        bool sent = false;
        std::optional<mode> proven; // mode of the last data that were acknowledged
        double acknowledged_s = 0;  // duration of all data that were
        // That mode before a silence, until a second transmission since then arrived.
        std::optional<mode> fell_from;
        unsigned since_fall = 0; // acknowledged transmissions
        answer_reach answer;
        failed_modes failed;        // of those received
        failed_modes failed_there;  // of those sent
        std::optional<mode> wanted; // our advice to the peer
        tries faster;
    };

    mode data_mode(const station& s, const tx_context& c);
    std::optional<mode> group_mode() const;
    mode message_mode(const station& s, const tx_context& c, const mode& bulk) const;
    std::vector<mode> answer_modes(const station& s) const;
    static double answer_limit_db(const station& s);
    static double better_there_db(const station& s);
    std::vector<mode> within_reach(const station& s) const;
    const mode_set& modes_for(const station& s) const;
    static mode below(const mode_set& modes, const mode& m, double db);
    static bool proven(const station& s, const mode& m);
    bool may_rise(const station& s) const;
    static bool fails_there(const station& s, const mode& m);
    std::vector<mode> allowed(const station& s) const;
    void try_faster(station& s, const reception& r) const;
    station& of(address peer);

    peer_modes d_modes;
    unsigned d_window;
    std::map<uint32_t, station> d_stations; // by raw address
    mode_reason d_why = mode_reason::nothing_known;
};

} // namespace gr::hf::s5066
