/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/api.h>
#include <pmt/pmt.h>

/*! \file keys.h
 *  \brief All keys of message metadata.
 *
 * Every message of this module is a PDU: a pair of a dictionary and a u8vector.
 * Dictionaries contain no other keys than those below. A missing key means unknown. Times
 * are station time (see time.h) in nanoseconds.
 */
namespace gr::hf::keys {

//! symbol: which message it is; the values are listed at each port.
HF_API const pmt::pmt_t& type();
//! uint64: station time of the event, ns.
HF_API const pmt::pmt_t& now();
//! uint64: when the octets start on the air, or when the transmission ended, ns.
HF_API const pmt::pmt_t& air_time();
//! symbol: waveform mode in its string form, for example 4539-600S.
HF_API const pmt::pmt_t& mode();
//! double: signal-to-noise ratio in the mode's bandwidth, dB.
HF_API const pmt::pmt_t& snr_db();
//! double: frequency offset of the received carrier, Hz.
HF_API const pmt::pmt_t& freq_offset_hz();
//! bool: the reception started without its preamble, at the start of a block; earlier
//! octets are missing.
HF_API const pmt::pmt_t& joined();
//! symbol: reading of the standard that the data agree with: standard or reversed.
HF_API const pmt::pmt_t& reading();
//! double: Doppler spread during a block, two sigma, Hz.
HF_API const pmt::pmt_t& doppler_hz();
//! double: delay spread during a block, two standard deviations, ms.
HF_API const pmt::pmt_t& delay_spread_ms();
//! double: share of the coded bits of a block that the decoder corrected, 0 to 0.5.
HF_API const pmt::pmt_t& coded_ber();
//! f32vector: share of the power at each delay during a block; sums to 1. Steps are
//! half a symbol: 1/4800 s in 3 kHz.
HF_API const pmt::pmt_t& profile();
//! c32vector: channel taps in the last frame of a block, at the delays of profile.
HF_API const pmt::pmt_t& taps();
//! double: decoder's confidence in a block, 0 to 1.
HF_API const pmt::pmt_t& quality();
//! u8vector: log-likelihood ratios of code bits, two for each bit, in quarters, negative
//! ones as two's complement; positive for 0. Only of the running code, 75 to 2400 bit/s.
HF_API const pmt::pmt_t& ratios();
//! uint64: number of the bit that the first two ratios belong to; bit 0 is the first of
//! the octets.
HF_API const pmt::pmt_t& ratios_from();
//! symbol: how a reception ended: eom, lost, preempted or limit.
HF_API const pmt::pmt_t& reason();
//! uint64: how many octets the modem can accept.
HF_API const pmt::pmt_t& max_octets();
//! bool: the transmission ends after these octets.
HF_API const pmt::pmt_t& last();
//! bool: the channel carries a transmission that is not received.
HF_API const pmt::pmt_t& present();
//! bool: the tick must be answered before time advances.
HF_API const pmt::pmt_t& lock_step();
//! uint64: the client of a sis port that a primitive belongs to; see new_client_id().
HF_API const pmt::pmt_t& client();
//! uint64: index of the first sample of the transmission.
HF_API const pmt::pmt_t& start_sample();
//! uint64: index of the sample after the last one of the transmission.
HF_API const pmt::pmt_t& end_sample();
//! symbol: what happened to D_PDUs: sent, sent again, sent as fill, received, damaged,
//! unread.
HF_API const pmt::pmt_t& d_pdu();
//! uint64: number of D_PDUs reported by d_pdu; for unread ones an estimate.
HF_API const pmt::pmt_t& d_pdus();
//! bool: the D_PDU reported by d_pdu acknowledges data.
HF_API const pmt::pmt_t& acknowledges();
//! bool: a log line about one transmission or D_PDU, of which there are several a minute.
HF_API const pmt::pmt_t& detail();
//! bool: the transmitter must be keyed.
HF_API const pmt::pmt_t& down();
//! double: samples given to a playback device and not heard yet, s.
HF_API const pmt::pmt_t& held_s();
//! double: time at which held_s was measured, by the host's steady clock, s.
HF_API const pmt::pmt_t& host_s();
//! double: what a playback device should hold to bridge the host's stalls, s.
HF_API const pmt::pmt_t& wanted_s();
//! uint64: times that a playback device has run empty, or was lost, since the start.
HF_API const pmt::pmt_t& gaps();
//! Tag, uint64: how many samples from here on replace lost ones.
HF_API const pmt::pmt_t& erased();
//! integer: samples that a device lost; negative: too many zeros had been put in.
HF_API const pmt::pmt_t& lost();
//! uint64: number of a transmission since the start, from 1 on.
HF_API const pmt::pmt_t& transmission();
//! uint64: whole seconds of a device's own clock.
HF_API const pmt::pmt_t& seconds();
//! double: the rest of a second of a device's own clock, s.
HF_API const pmt::pmt_t& fraction();
//! uint64: channel of an ALE station, from 0 on.
HF_API const pmt::pmt_t& ale_channel();
//! boolean: the data link may use the channel. Set where ALE decides about that.
HF_API const pmt::pmt_t& open();
//! symbol: the only node that may be sent to, a STANAG 5066 address.
HF_API const pmt::pmt_t& only();
//! symbol: node that data wait for, a STANAG 5066 address.
HF_API const pmt::pmt_t& wanted();
//! boolean: the data link exchanges something, or can send.
HF_API const pmt::pmt_t& active();
//! uint64: waits for an answer in a row in which the peer was not read.
HF_API const pmt::pmt_t& unanswered();

//! A number that no other client of this process has. It identifies a client on a sis
//! port.
HF_API uint64_t new_client_id();

} // namespace gr::hf::keys
