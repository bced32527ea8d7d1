/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <hf/mode.h>
#include <hf/modem_user.h>
#include <hf/time.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! What a transmission will be, as far as it is known when its mode is chosen.
struct tx_context {
    address peer;
    bool ack_only = false;      //!< no data: acknowledgements and link control alone
    size_t backlog_octets = 0;  //!< user octets waiting for this peer
    unsigned silent_rounds = 0; //!< transmissions in a row that the peer did not answer
};

//! What was heard of a peer in one transmission.
struct reception {
    mode m;
    std::vector<double> block_snr_db; //!< of its interleaver blocks, in m's bandwidth
    //! Two-sigma Doppler spread, mean of the blocks; empty: the modem does not tell.
    std::optional<double> doppler_hz;
    double good_share = 1;    //!< of its octets, those in D_PDUs without errors
    unsigned good_d_pdus = 0; //!< with data, without errors
    unsigned lost_d_pdus = 0; //!< with errors, or nothing of them could be read
    double d_pdu_octets = 0;  //!< of those with data, on average
    bool read = true;         //!< some of it could be read; else its SNR means little
    bool again = false;       //!< it repeats what we answered: the answer was not heard
};

//! Why a mode was chosen, for those who watch a station.
enum class mode_reason {
    setting,       //!< it is the one that is set
    nothing_known, //!< nothing was heard of the peer: a rate at which most channels work
    own_estimate, //!< the highest expected goodput by what was heard of the peer and acknowledged
    advice,       //!< the peer advises it
    advice_fails, //!< what the peer advises seems to be lost: by the own estimate
    silence,      //!< the peer did not answer: more robust than the last one
    soonest //!< an acknowledgement or a short message: over soonest, its loss counted
};

//! In words.
const char* to_string(mode_reason r);

/*! \brief Chooses the mode of each transmission: the seam for rate adaptation.
 *
 * The waveforms are autobaud, so no handshake goes with a change of mode.
 */
class rate_policy
{
public:
    virtual ~rate_policy() = default;
    //! The mode of the next transmission. Must be one of mode::all().
    virtual mode choose(station_time now, const tx_context& c) = 0;
    //! Why it chose the mode that it chose last.
    virtual mode_reason why() const { return mode_reason::setting; }
    //! The longest that the transmission just chosen should be, in seconds.
    virtual double longest_s(const tx_context& c) const
    {
        (void)c;
        return 127.5;
    }
    //! A transmission of \p peer was heard.
    virtual void on_reception(station_time now, address peer, const reception& r)
    {
        (void)now, (void)peer, (void)r;
    }
    //! \p peer answered: of \p sent data D_PDUs of so many octets, sent in mode \p m, \p lost did not
    //! arrive whole.
    virtual void on_frames(station_time now,
                           address peer,
                           const mode& m,
                           unsigned sent,
                           unsigned lost,
                           double octets)
    {
        (void)now, (void)peer, (void)m, (void)sent, (void)lost, (void)octets;
    }
    //! \p peer did not answer a transmission.
    virtual void on_silence(station_time now, address peer) { (void)now, (void)peer; }
    //! \p peer was asked for a link, or has asked: it has large windows, as we have, or not.
    virtual void on_window(address peer, bool large) { (void)peer, (void)large; }
    //! \p peer advises to send to it in mode \p m.
    virtual void on_advice(station_time now, address peer, const mode& m)
    {
        (void)now, (void)peer, (void)m;
    }
    //! Octets of the segments for \p peer in mode \p m that get the most across. Empty: no opinion.
    virtual std::optional<size_t> segment_octets(address peer, const mode& m) const
    {
        (void)peer, (void)m;
        return std::nullopt;
    }
    //! The advice for \p peer: how it should send to us. Empty: none. What the orderwire has no code
    //! for is not sent.
    virtual std::optional<mode> advice(address peer) const
    {
        (void)peer;
        return std::nullopt;
    }
};

/*! \brief Mode for short answers that goes with data mode \p data: same rate with the shortest
 *         interleaver (high rate and wideband), short interleaver (serial tone).
 */
mode default_ack_mode(const mode& data);

} // namespace gr::hf::s5066
