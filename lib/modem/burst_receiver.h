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

//! Settings of a burst_receiver. The defaults receive everything that is signalled.
struct rx_options {
    //! In 3 kHz, an announced 75 to 2400 bit/s "S" also stands for the zero interleaver,
    //! which is not signalled. true decodes those transmissions as Z.
    bool zero_interleaver = false;
    //! Return to acquisition after this number of interleaver blocks; 0: no limit.
    size_t max_blocks = 0;
    //! Largest carrier offset searched, Hz, 0 to 100. The standard requires 75 (110C
    //! C.6.3).
    double max_freq_offset_hz = 75;
    /*! \brief Time without a recognisable probe after which the signal is lost, s, 0.1 to
     *         60.
     *  \details Longer than fades. On ITU-R Good (0.1 Hz), fades 6 dB deep on one path
     *  last 3.2 s on average (Rice), nine of ten less than 8 s. The search for preambles
     *  goes on meanwhile: a transmission that starts after the signal vanished is
     *  received at once.
     */
    double lost_after_s = 10;
    /*! \brief true: deliver blocks decoded without a signal at once, for a data link that
     *         checks them and learns from losses. false: hold them until the signal
     *         returns, else drop them.
     */
    bool give_noise = false;
    /*! \brief Effort: 0 equalises and decodes once, 1 iterates between channel
     *         estimation, equaliser and decoder up to 4 times, 2 up to 10 times.
     *  \details Iterating stops when nothing changes any more, mostly after 1 or 2
     *  rounds.
     */
    int effort = 1;
    /*! \brief For measurements only: the simulated channel replaces the estimates of it,
     *         except in acquisition and at 75 bit/s.
     */
    std::shared_ptr<const known_channel> known = nullptr;
    //! In a diversity_receiver: the link to the other antenna, and the side of this one.
    std::shared_ptr<diversity_link> diversity = nullptr;
    size_t side = 0; //!< 0 or 1
};

//! An event of a burst_receiver, in order of time on the air.
struct rx_event {
    std::variant<rx_start, rx_octets, rx_end> what;
    /*! \brief Time on the air, as an index of input samples (the first sample ever pushed
     *         is 0).
     *  \details rx_start: centre of the first preamble symbol seen; negative if that
     *  lies before the input. rx_octets: centre of the first symbol of the block.
     *  rx_end: end of the last symbol, the same time as rx_end::air_end.
     */
    int64_t sample = 0;
    //! Number of samples pushed since construction when the event was raised.
    uint64_t raised_at = 0;
    //! For rx_octets of a decoded block: the channel during that block. Else the profile
    //! is empty.
    channel_report channel = {};
    //! For the same events, if burst_receiver::keep_details() asked for them; else null.
    std::shared_ptr<const block_details> details = nullptr;
};

//! Counters of a burst_receiver since construction.
struct rx_counters {
    uint64_t samples = 0;     //!< pushed
    uint64_t bad_samples = 0; //!< not finite or absurdly large; replaced by zero
    uint64_t candidates = 0;  //!< preamble candidates
    uint64_t starts = 0;      //!< confirmed candidates
    uint64_t blocks = 0;      //!< interleaver blocks decoded
    uint64_t ends_eom = 0, ends_lost = 0, ends_limit = 0, ends_preempted = 0;
};

/*! \brief Receiver of all waveforms of one bandwidth. It finds mode, level, frequency and
 *         timing by itself.
 *
 * Input: complex baseband on the grid of these waveforms, four samples per symbol,
 * subcarrier at 0 Hz, any level. The events do not depend on how the input is cut into
 * calls. Events lag the samples by the decoding delay. rx_end is never raised before its
 * air_end has been pushed.
 *
 * \code
 *      burst_receiver rx(rx_options{});
 *      rx.push(samples, n);
 *      while (auto e = rx.poll()) { ... std::get_if<rx_octets>(&e->what) ... }
 * \endcode
 */
class burst_receiver
{
public:
    //! For all waveforms of 3 kHz. \throws std::invalid_argument for an option out of its
    //! range.
    explicit burst_receiver(const rx_options& options = rx_options{});
    /*! \brief For the given families, of one symbol rate. Each outlives the receiver.
     *  \throws std::invalid_argument for an option out of its range, no family, or
     *        several symbol rates
     */
    burst_receiver(const rx_options& options,
                   const std::vector<const family_reception*>& families);
    ~burst_receiver();
    burst_receiver(const burst_receiver&) = delete;
    burst_receiver& operator=(const burst_receiver&) = delete;

    /*! \brief Take \p n samples. Never throws for their values; bad ones are counted and
     *         zeroed.
     *  \param erased null, or for each sample the share, 0 to 1, already blanked ahead
     *        of a filter (audio_to_baseband): the equations treat it as missing
     */
    void
    push(const std::complex<float>* samples, size_t n, const float* erased = nullptr);

    //! The next event, in order; empty if there is none. Drain after each push().
    std::optional<rx_event> poll();

    //! Attach details to the blocks of transmissions that start from now on, or stop
    //! doing so.
    void keep_details(bool wanted);

    //! True from the start of a transmission until its end event is raised.
    bool receiving() const;

    /*! \brief Drop the current transmission and all input, but keep counting samples.
     *  \details For the moment at which our own transmitter is keyed. No end event is
     *  raised. Events not polled yet are dropped.
     */
    void reset();

    /*! \brief Skip \p n samples.
     *  \details Like reset(), and time passes. Used while transmitting, so that sample
     *  indices stay those of the station.
     */
    void skip(uint64_t n);

    const rx_counters& counters() const;

    //! Grid of the input.
    const symbol_grid& grid() const;

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::kernel
