/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/frames/frame_reader.h"
#include "ale/link/action.h"
#include "ale/link/address_book.h"
#include "ale/link/channel_tries.h"
#include "ale/link/heard_frames.h"
#include "ale/link/settings.h"

#include <hf/station_time.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gr::hf::ale {

//! What a link engine is doing.
enum class link_state {
    scanning,  //!< waits for calls; a wide radio hears all channels
    reading,   //!< a call that may be for us is on the air
    listening, //!< before our own call or sound
    sending,
    answer,    //!< our call was sent; waits for answers
    slot,      //!< waits for its slot to answer a net
    handshake, //!< answered; waits for the acknowledgement
    linked
};

//! For example "listening".
const char* to_string(link_state s);

//! Whether an SNR, the mean of both directions in dB, is worth a link.
using snr_judge = std::function<bool(double snr_db)>;

/*! \brief Link state machine of a 2G ALE station (MIL-STD-188-141B A.5.5).
 *  \details A pure engine in station time. Hand in words and frames as they arrive, call
 *  advance() at next_deadline(), and carry out the actions of poll() in their order. Every
 *  state but that of an idle wide radio has a deadline, so no wait is without limit.
 */
class link_machine
{
public:
    static constexpr size_t max_requests = 16; //!< calls that may wait

    /*! \param seed of random pauses and slots
     *  \throws std::invalid_argument
     */
    link_machine(const link_settings& settings, const address_book& book, uint64_t seed);

    /*! \brief Call a station or net, on its best channel first. While a link exists the call
     *         waits.
     *  \param text AMD message to send with it; empty: none
     *  \param first channel to try first, instead of the best one
     *  \param enough of channel \p first: false: its answer is acknowledged with TWAS, and
     *         the call goes on. Reports of link quality are exchanged. Empty: any answer
     *         makes the link.
     *  \throws std::invalid_argument if it is no address of a station or a known net, if
     *          the text cannot be sent, or if max_requests calls wait
     */
    void call(const std::string& to,
              const std::string& text,
              station_time now,
              std::optional<size_t> first = {},
              snr_judge enough = {});
    //! max_requests calls wait.
    bool full() const { return d_requests.size() >= max_requests; }
    //! Forget calls that wait or are under way, and end the link with TWAS. \p why is
    //! reported.
    void end(station_time now, link_reason why = link_reason::ours);
    //! Keep the link while traffic waits, without regard to Twa.
    void hold(bool on, station_time now);
    /*! \brief Send an AMD message within the link.
     *  \return false: there is no link, or the modem transmits
     *  \throws std::invalid_argument
     */
    bool send_text(const std::string& text, station_time now);

    /*! \brief What the receiver of a channel reports. Its times must be station time.
     *  \param channel that the radio was tuned to when the word began
     */
    void receive(size_t channel, const rx_event& e, station_time now);
    /*! \brief Tones as of ALE are on the channel: the scan stays until a word is read
     *         (Tdrw).
     */
    void detected(size_t channel, station_time now);
    //! A channel is in use or free, as a carrier detector reports. Optional.
    void busy(size_t channel, bool on, station_time now);
    //! The last transmission of poll() is over.
    void transmitted(station_time now);
    //! The data modem starts or ends a transmission in the link.
    void keyed(bool on, station_time now);
    /*! \brief The data modem received something in the link.
     *  \param snr_db in 3 kHz; empty: not measured
     */
    void traffic(std::optional<double> snr_db, station_time now);

    //! Act on timers that have expired. The first call starts the scan.
    void advance(station_time now);
    //! When to call advance() again; empty: an idle wide radio.
    std::optional<station_time> next_deadline() const;
    //! The next action; empty: none.
    std::optional<link_action> poll() { return d_actions.poll(); }

    link_state state() const { return d_state; }
    //! Channel that the radio is tuned to.
    size_t channel() const { return d_channel; }
    //! Station or net that we are linked with; empty: none.
    std::string peer() const { return d_link ? d_link->peer : ""; }
    lqa_store& quality() { return d_heard.quality(); }

private:
    enum class transmission {
        call,
        answer,
        refusal,
        acknowledgement,
        decline, // of an answer on a channel that is not good enough
        close,
        sound,
        text
    };
    struct request {
        std::string to, text;
        std::optional<size_t> first; // channel
        snr_judge enough;
    };
    // A call that we make, or a round of sounds.
    struct outgoing {
        request what; // without to: sounds
        std::string own;
        channel_tries tries;
        int rounds = 0;
        station_time retry_at{}, limit{};
        std::vector<std::string> answered;
        bool report = false;    // the answer or our settings want one
        bool cancelled = false; // by end(), while a frame of it is on the air
    };
    // A call that we answer.
    struct incoming {
        std::string own, peer;
        size_t slots = 0;    // of a net, group or AnyCall; 0: individual
        bool report = false; // the call or our settings want one
        station_time end{}, slot_at{}, give_up_at{}, limit{};
        int repeats = 0;
        std::optional<int> sinad_db;     // of the call
        std::optional<size_t> elsewhere; // channel of another call to us
    };
    struct link {
        std::string own, peer;
        std::vector<std::string> members; // of a net that we called
        bool caller = false, held = false, ending = false;
        bool confirmed = false; // something was heard since the handshake
        int repeats = 0;        // of our acknowledgement
        station_time active_at{}, heard_at{};
        std::optional<station_time> keyed_at;

        station_time deadline(const link_settings& s) const;
        link_reason why(const link_settings& s, station_time now) const;
    };
    struct channel_state {
        frame_reader reader;
        bool busy = false;
        bool ignored = false; // too long a call: its words count again after its end
        station_time quiet_since{}; // end of what was heard, or start of hearing
    };

    // link_machine.cc: time, scan, transmissions
    void on_deadline(station_time now);
    void resume(station_time now);
    void hop(station_time now);
    bool start_work(station_time now);
    std::optional<station_time> work_at() const;
    void tune(size_t channel, station_time now);
    void transmit(transmission what, const frame_plan& plan, station_time now);
    void on_transmitted(transmission what, station_time now);
    // link_receive.cc: words and frames
    void on_word(size_t channel, const rx_event& e, station_time now);
    void on_frame(size_t channel, const frame& f, station_time now);
    void on_linked_frame(const frame& f, station_time now);
    // link_calling.cc: our calls and sounds
    void next_channel(station_time now);
    void send_call(station_time now);
    void on_answer(const frame& f, station_time now);
    void acknowledge(transmission what, station_time now);
    void fail_call(link_reason why, station_time now);
    // link_called.cc: calls to us, and links
    void on_call(size_t channel,
                 const frame& f,
                 const address_book::match& m,
                 station_time now);
    void send_answer(station_time now);
    void on_handshake(const frame& f, station_time now);
    void start_link(link l, station_time now);
    void close_link(link_reason why, bool tell, station_time now);

    const link_settings d_settings;
    const address_book d_book;
    heard_frames d_heard;
    std::mt19937_64 d_random;
    action_list d_actions;
    std::vector<channel_state> d_channels;
    std::deque<request> d_requests;
    link_state d_state = link_state::scanning;
    std::optional<station_time> d_deadline;
    station_time d_reading_limit{};
    std::optional<transmission> d_sending;
    size_t d_channel = 0;
    station_time d_sound_at{};
    std::optional<outgoing> d_out;
    std::optional<incoming> d_in;
    std::optional<link> d_link;
    bool d_started = false;
};

} // namespace gr::hf::ale
