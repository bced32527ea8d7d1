/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/detect/block_details.h"
#include "modem/track/channel_report.h"
#include "modem/track/diversity_link.h"
#include "modem/track/known_channel.h"
#include "waveform/reception.h"

#include <hf/modem_user.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace gr::hf::kernel {

//! Settings of a burst_receiver; the defaults receive everything that is signalled.
struct rx_options {
    //! In 3 kHz 75 to 2400 bit/s "S" announces also stands for the zero interleaver, which is
    //! not signalled: true decodes those transmissions as Z.
    bool zero_interleaver = false;
    //! Return to acquisition after so many interleaver blocks; 0: no limit.
    size_t max_blocks = 0;
    //! Largest carrier offset searched, Hz, 0 to 100. The standard asks for 75 (110C C.6.3).
    double max_freq_offset_hz = 75;
    /*! \brief Time without a recognisable probe after which the signal is lost, s, 0.1 to 60.
     *  \details Longer than fades last: of ITU-R Good (0.1 Hz) those 6 dB deep last 3.2 s on average
     *  on one path (Rice), nine of ten less than 8. Preambles go on being looked for: one that comes
     *  after the signal vanished is received without waiting for this.
     */
    double lost_after_s = 10;
    /*! \brief What was made of blocks without any signal is given as it comes: for a data link, which
     *         checks it and learns from what is lost. False: when the signal comes back, and not at
     *         all if it does not.
     */
    bool give_noise = false;
    /*! \brief How hard to try: 0 equalises and decodes once, 1 iterates between channel
     *         estimation, equaliser and decoder up to 4 times, 2 up to 10 times.
     *  \details Iterating stops when nothing changes any more, mostly after 1 or 2 rounds.
     */
    int effort = 1;
    /*! \brief For measuring alone: the simulated channel itself takes the place of estimates
     *         of it, except in acquisition and at 75 bit/s.
     */
    std::shared_ptr<const known_channel> known = nullptr;
    //! Of a diversity_receiver: where it meets the other antenna, and which of the two it is.
    std::shared_ptr<diversity_link> diversity = nullptr;
    size_t side = 0; //!< 0 or 1
};

//! What a burst_receiver found, in the order in which it happened on the air.
struct rx_event {
    std::variant<rx_start, rx_octets, rx_end> what;
    /*! \brief The place on the air, as an index of input samples (the first sample ever
     *  pushed is 0).
     *  \details rx_start: centre of the first preamble symbol that was seen (it may lie
     *  before the begin of the input: then negative). rx_octets: centre of the first symbol
     *  of the block. rx_end: end of the last symbol; rx_end::air_end is the same as time.
     */
    int64_t sample = 0;
    //! Samples pushed since construction when the event was raised.
    uint64_t raised_at = 0;
    //! With rx_octets of a decoded block: the channel during it. Else the profile is empty.
    channel_report channel = {};
    //! With the same, if burst_receiver::keep_details() asked for them; else null.
    std::shared_ptr<const block_details> details = nullptr;
};

//! Counters of a burst_receiver since construction.
struct rx_counters {
    uint64_t samples = 0;     //!< pushed
    uint64_t bad_samples = 0; //!< not finite or absurdly large; replaced by zero
    uint64_t candidates = 0;  //!< times the preamble search fired
    uint64_t starts = 0;      //!< candidates that were confirmed
    uint64_t blocks = 0;      //!< interleaver blocks decoded
    uint64_t ends_eom = 0, ends_lost = 0, ends_limit = 0, ends_preempted = 0;
};

/*! \brief Receiver of all waveforms of one bandwidth, told nothing: it finds the mode, level,
 *         frequency and timing itself.
 *
 * Input: complex baseband on the grid of these waveforms, four samples per symbol, the
 * subcarrier at 0 Hz, any level. Streaming: the events do not depend on how the input is cut into calls.
 * It works as the samples come; what an event tells lies in the past by the decoding delay,
 * except that rx_end is never raised before its air_end has been pushed.
 *
 * \code
 *     burst_receiver rx(rx_options{});
 *     rx.push(samples, n);
 *     while (auto e = rx.poll()) { ... std::get_if<rx_octets>(&e->what) ... }
 * \endcode
 */
class burst_receiver
{
public:
    //! Of what is sent in 3 kHz. \throws std::invalid_argument for an option out of its range.
    explicit burst_receiver(const rx_options& options = rx_options{});
    /*! \brief Of the families that are given, of one symbol rate; each outlives the receiver.
     *  \throws std::invalid_argument for an option out of its range, no family, or several
     *  symbol rates.
     */
    burst_receiver(const rx_options& options,
                   const std::vector<const family_reception*>& families);
    ~burst_receiver();
    burst_receiver(const burst_receiver&) = delete;
    burst_receiver& operator=(const burst_receiver&) = delete;

    /*! \brief Take \p n samples. Never throws for their values; bad ones are counted and
     *         zeroed.
     *  \param erased null, or for each sample the share, 0 to 1, that was blanked before,
     *  ahead of a filter (audio_to_baseband): the equations know that it is missing
     */
    void
    push(const std::complex<float>* samples, size_t n, const float* erased = nullptr);

    //! The next event, in order; empty when there is none. Drain after each push().
    std::optional<rx_event> poll();

    //! Give details with the blocks of transmissions that begin from now on, or none.
    void keep_details(bool wanted);

    //! True from the start of a transmission until its end event is raised.
    bool receiving() const;

    /*! \brief Forget the transmission under way and everything heard, keep counting samples.
     *  \details For the moment at which the own transmitter is keyed. No end event is
     *  raised; events not polled yet are dropped.
     */
    void reset();

    /*! \brief Let \p n samples pass unheard.
     *  \details Like reset() followed by the passing of time: used while transmitting so
     *  that sample indices stay those of the station.
     */
    void skip(uint64_t n);

    const rx_counters& counters() const;

    //! Of the input.
    const symbol_grid& grid() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::kernel
