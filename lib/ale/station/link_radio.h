/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/link/link_keeper.h"
#include "ale/link/link_machine.h"
#include "ale/modem/receiver.h"
#include "ale/modem/transmitter.h"
#include "ale/station/voice_detector.h"
#include "modem/front/carrier_detector.h"

#include <hf/station_time.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gr::hf::ale {

/*! \brief An ALE station in front of a modem: samples of one or all channels in and out.
 *  \details Baseband at 9600 samples/s, 1800 Hz of audio at 0 Hz. Time is the number of
 *  samples. A radio with one stream follows the actions tune. With a stream for each channel
 *  the station chooses the stream: it hears all of them at once (wide), or only one, as a
 *  scanning radio would. While the modem transmits, the caller must report it to link().
 */
class link_radio
{
public:
    using sample = std::complex<float>;
    static constexpr int64_t rate = 9600; //!< samples/s
    //! Start and end of an ALE transmission within a piece, as sample indices.
    struct tx_span {
        std::optional<size_t> first, last;
    };

    /*! \param streams 1, or the number of channels; wide needs the latter
     *  \param goodput of link_keeper
     *  \throws std::invalid_argument
     */
    link_radio(const link_settings& settings,
               const address_book& book,
               size_t streams,
               uint64_t seed,
               link_keeper::promise goodput = {});

    /*! \brief Take a piece of every stream.
     *  \param modem what the modem receives: the channel of the link, else zeros
     */
    void receive(const std::vector<const sample*>& in, size_t n, sample* modem);
    /*! \brief The piece to transmit, for the same time.
     *  \param modem what the modem transmits; it goes out in a link only
     *  \param out all streams; zeros on channels that are not used
     */
    tx_span transmit(const sample* modem, size_t n, const std::vector<sample*>& out);

    //! The next action, for information. Only tune needs an action of the caller.
    std::optional<link_action> poll();
    //! Station time: samples received.
    station_time now() const;
    //! An ALE transmission is on the air, or about to be.
    bool transmitting() const { return d_sending.has_value(); }
    link_machine& link() { return d_link; }
    link_keeper& keeper() { return d_keeper; }

private:
    void hear(size_t receiver, const sample* x, size_t n);
    void sense(size_t receiver, const sample* x, size_t n);
    void take_actions();
    void await_answer();
    void await_nothing();
    size_t channel_at(double seconds) const;
    size_t stream() const { return d_streams == 1 ? 0 : d_link.channel(); }
    // A wide radio hears all channels while its transmitter is tuned.
    bool deaf() const { return !d_wide && d_samples < d_tuned_at; }

    const bool d_wide;
    const size_t d_streams;
    const int64_t d_tune; // samples
    link_machine d_link;
    link_keeper d_keeper;
    std::vector<std::unique_ptr<receiver>> d_receivers;
    // Signals of others, for each receiver
    struct ear {
        kernel::carrier_detector modems;
        voice_detector voices;
        bool reported = false; // busy, to the link engine
        bool busy() const { return modems.present() || voices.present(); }
    };
    std::deque<ear> d_ears;
    std::deque<std::pair<int64_t, size_t>> d_tuned; // from which sample on, channel
    int64_t d_samples = 0, d_tuned_at = 0;
    std::optional<transmitter> d_sending;
    // What the station expects to hear.
    struct expectation {
        std::vector<expected_words::sequence> answers; // to the frame that is sent
        expected_words words; // without frames: known callers alone
        size_t receiver = 0;  // that waits for the frames
        link_state state{};   // in which it waits
    } d_expected;
    bool d_detected = false; // tones on this channel of the scan
    bool d_started = false;  // the first sample of d_sending is out
    std::vector<sample> d_piece, d_zeros;
    std::deque<link_action> d_reported;
};

} // namespace gr::hf::ale
