/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"
#include "s5066/words/max_eot.h"

#include <hf/mode.h>
#include <hf/modem_user.h>
#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! What is known of a transmission when its mode is chosen.
struct tx_context {
    address peer;
    bool ack_only = false;     //!< no data: only acknowledgements and link control
    size_t backlog_octets = 0; //!< user octets waiting for this peer
    //! Transmissions in a row without an answer from the peer.
    unsigned silent_rounds = 0;
};

//! What was received from a peer in one transmission.
struct reception {
    mode m;
    std::vector<double> block_snr_db; //!< of its interleaver blocks, in m's bandwidth
    //! Two-sigma Doppler spread, mean of the blocks; empty if the modem does not measure
    //! it.
    std::optional<double> doppler_hz;
    double good_share = 1;    //!< share of its octets in D_PDUs without errors
    unsigned good_d_pdus = 0; //!< with data, without errors
    unsigned lost_d_pdus = 0; //!< with errors, or unreadable
    double d_pdu_octets = 0;  //!< mean length of those with data
    //! Some of it could be read; otherwise its SNR means little.
    bool read = true;
    //! It repeats what we answered, so our answer was not heard.
    bool again = false;
};

//! What became of the data D_PDUs of one transmission, as its acknowledgement tells.
struct sent_data {
    mode m;
    unsigned sent = 0;
    unsigned lost = 0;        //!< of them, did not arrive whole
    double octets = 0;        //!< mean length
    unsigned lost_at_end = 0; //!< the last ones in a row that were lost
};

//! Modes that a station receives in 3 kHz besides those of 4539.
struct modes_read {
    bool of_5069 = false; //!< the modes of STANAG 5069
    bool robust = false;  //!< our own robust family
    bool any() const { return of_5069 || robust; }
};

//! Why a mode was chosen, for displays.
enum class mode_reason {
    setting,       //!< it is the configured mode
    nothing_known, //!< nothing was heard of the peer: a rate that works on most channels
    //! Highest expected goodput, by the peer's signal and its acknowledgements.
    own_estimate,
    advice,       //!< the peer advises it
    advice_fails, //!< the peer's advice seems to fail: our own estimate instead
    silence,      //!< the peer did not answer: more robust than the last one
    soonest       //!< acknowledgement or short message: soonest across, with its losses
};

//! As text.
const char* to_string(mode_reason r);

/*! \brief Chooses the mode of each transmission: the interface for rate adaptation.
 *
 * The waveforms are autobaud, so a change of mode needs no handshake.
 */
class rate_policy
{
public:
    virtual ~rate_policy() = default;
    //! The mode of the next transmission. Must be one of mode::all().
    virtual mode choose(station_time now, const tx_context& c) = 0;
    //! Reason for the last choice.
    virtual mode_reason why() const { return mode_reason::setting; }
    //! Longest duration of the transmission just chosen, in seconds.
    virtual double longest_s(const tx_context& c) const
    {
        (void)c;
        return max_eot_s;
    }
    //! A transmission of \p peer was heard.
    virtual void on_reception(station_time now, address peer, const reception& r)
    {
        (void)now, (void)peer, (void)r;
    }
    //! \p peer answered a transmission with data.
    virtual void on_frames(station_time now, address peer, const sent_data& d)
    {
        (void)now, (void)peer, (void)d;
    }
    //! \p peer did not answer a transmission.
    virtual void on_silence(station_time now, address peer) { (void)now, (void)peer; }
    //! The channel to \p peer is another one. What was learned of the last one is void.
    virtual void on_new_channel(address peer) { (void)peer; }
    //! A link with \p peer is requested by either side. \p large: both sides have large
    //! windows.
    virtual void on_window(address peer, bool large) { (void)peer, (void)large; }
    //! A link with \p peer is requested by either side, and shows what the peer receives
    //! in 3 kHz. If nothing was shown it knows 4539 alone.
    virtual void on_modes_read(address peer, modes_read r) { (void)peer, (void)r; }
    //! \p peer advises us to send to it in mode \p m.
    virtual void on_advice(station_time now, address peer, const mode& m)
    {
        (void)now, (void)peer, (void)m;
    }
    //! Segment length with the most goodput for \p peer in mode \p m. Empty: no opinion.
    virtual std::optional<size_t> segment_octets(address peer, const mode& m) const
    {
        (void)peer, (void)m;
        return std::nullopt;
    }
    //! Our advice to \p peer: the mode in which it should send to us. Empty: none. A mode
    //! without a code in the orderwire is not sent.
    virtual std::optional<mode> advice(address peer) const
    {
        (void)peer;
        return std::nullopt;
    }
};

/*! \brief Mode for short answers to data in mode \p data: the same rate with the shortest
 *         interleaver (high rate and wideband), or with the short interleaver (serial
 *         tone).
 */
mode default_ack_mode(const mode& data);

//! Modes for acknowledgements of \p data in the same standard and bandwidth, each at most
//! half as fast as the one before.
std::vector<mode> slower_acks(const mode& data);

} // namespace gr::hf::s5066
