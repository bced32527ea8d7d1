/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/channel_report.h"
#include "modem/known_channel.h"

#include <hf/modem_user.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

namespace gr::hf::kernel {

//! Settings of a burst_receiver; the defaults receive everything that is signalled.
struct rx_options {
    //! Serial tone 75 to 2400 "S" announces also stands for the zero interleaver, which is
    //! not signalled: true decodes those transmissions as Z.
    bool zero_interleaver = false;
    //! Return to acquisition after so many interleaver blocks; 0: no limit.
    size_t max_blocks = 0;
    //! Largest carrier offset searched, Hz, 0 to 100. The standard asks for 75 (110C C.6.3).
    double max_freq_offset_hz = 75;
    /*! \brief Time without a recognisable probe after which the signal is lost, s, 0.1 to 10.
     *  \details Longer where blocks are: three quarters of an interleaver block, up to 4.5 s.
     *  A preamble that comes after the signal vanished is received without waiting for this.
     */
    double lost_after_s = 0.8;
    /*! \brief How hard to try: 0 equalises and decodes once, 1 iterates between channel
     *         estimation, equaliser and decoder up to 4 times, 2 up to 10 times.
     *  \details Iterating stops when nothing changes any more, mostly after 1 or 2 rounds.
     */
    int effort = 1;
    /*! \brief For measuring alone: the simulated channel itself takes the place of estimates
     *         of it, except in acquisition and at 75 bit/s.
     */
    std::shared_ptr<const known_channel> known = nullptr;
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

/*! \brief Receiver of serial-tone and high-rate bursts (MIL-STD-188-110C 5.3.2 and
 *         Appendix C), told nothing: it finds the mode, level, frequency and timing itself.
 *
 * Input: complex baseband at sample_rate, the subcarrier (1800 Hz in the audio band) at
 * 0 Hz, any level. Streaming: the events do not depend on how the input is cut into calls.
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
    //! Samples per second of the input: 4 per symbol.
    static constexpr double sample_rate = 9600;

    //! \throws std::invalid_argument for an option out of its range.
    explicit burst_receiver(const rx_options& options = rx_options{});
    ~burst_receiver();
    burst_receiver(const burst_receiver&) = delete;
    burst_receiver& operator=(const burst_receiver&) = delete;

    //! Take \p n samples. Never throws for their values; bad ones are counted and zeroed.
    void push(const std::complex<float>* samples, size_t n);

    //! The next event, in order; empty when there is none. Drain after each push().
    std::optional<rx_event> poll();

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

private:
    class impl;
    std::unique_ptr<impl> d_impl;
};

} // namespace gr::hf::kernel
