/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/peers.h"
#include "slep/stream.h"

#include <map>

namespace gr::hf::slep {

enum class stream_state { opening, offered, open };

//! What a stream is called on the air.
struct stream_name {
    uint8_t number = 0;
    uint8_t use = 0; //!< opener: earlier uses of this number
    bool opener = false;

    uint8_t sid() const
    {
        return static_cast<uint8_t>(number | (opener ? 0 : sid_responder));
    }
    side which() const { return opener ? opened_here : opened_there; }
};

//! Incarnations of the two directions of a stream.
struct stream_incarnations {
    incarnation out, in;
    bool in_known = true; //!< the opener learns the other one from SR
};

//! What the two sides know about the end of our direction and of the peer's.
struct stream_ending {
    bool confirmed = false;     //!< the peer's user has all of our direction
    bool shown = false;         //!< the peer has confirmed it with its own end
    bool known_to_peer = false; //!< the peer knows that our user has all of its direction

    //! A PDU of the peer reports whether its user has all of our direction.
    void said(bool ended)
    {
        shown = shown || ended;
        confirmed = confirmed || ended;
    }
};

//! Place of a stream in the ring of stream_scheduler.
struct ring_place {
    bool taken = false;
    long deficit = 0; //!< of the round robin, octets
};

//! Octets that a stream has sent since nothing was on its way: they decide its order of
//! service.
struct stream_burst {
    size_t fresh_octets; //!< octets of a burst that go before bulk
    size_t octets = 0;   //!< of PDUs built

    freshness how_fresh() const;
};

//! The SC that tells the peer about our receive window and whether our user has its data.
struct window_control {
    bool shut = false;   //!< the window, as reported to the peer or in an SC in SIS
    bool due = false;    //!< it must be sent
    bool ask = false;    //!< and the peer must answer it
    bool in_sis = false; //!< one is in SIS
    bool asks = false;   //!< and the peer must answer that one
    //! Numbers below this were confirmed before an SC that asked. Empty: the peer has
    //! answered, and its user has them.
    std::optional<uint64_t> confirmed_below;
    unsigned behind = 0; //!< SCs of the peer since then that are behind it
};

//! Whether the peer is alive.
struct peer_life {
    //! Last sign of life: a PDU or a confirm. Before any, the start of the stream.
    station_time at{};
    bool asked = false; //!< since then
    //! First reject of a PDU without a confirm since.
    std::optional<station_time> stalled_since;

    void alive(station_time now)
    {
        at = now;
        asked = false;
    }
    void stalled(station_time now)
    {
        if (!stalled_since)
            stalled_since = now;
    }
    void went_through(station_time now)
    {
        stalled_since.reset();
        alive(now);
    }
};

//! Deadlines of a stream. Empty: none.
struct stream_deadlines {
    std::optional<station_time> accept_at; //!< for sending SR
    //! For receiving SR, or the answer to an SC. Of an offered stream: for our user.
    std::optional<station_time> answer_by;
    std::optional<station_time> probe_at;    //!< to ask whether the peer knows the stream
    std::optional<station_time> doubt_until; //!< for a sign that stream::doubted is old
    std::optional<station_time> ask_window_at; //!< to ask: the peer's window stays shut
};

//! A PDU that is missing while later ones have arrived.
struct reception_gap {
    std::optional<station_time> since;
    std::optional<station_time> ask_at; //!< to ask the peer for it
    uint64_t at = 0;                    //!< its number
};

//! Octets of a stream's user.
struct stream_octets {
    uint64_t sent = 0, received = 0;
    uint64_t asked = 0; //!< part of those sent in PDUs that ask for an answer
};

//! One stream: its two directions and their state.
struct stream {
    stream(const endpoint_config& c, const stream_options& o);
    stream_id id = 0;
    peer_state* p = nullptr;
    stream_name name;
    stream_state state = stream_state::opening;
    stream_options options;
    octets open_data; //!< open-data of SO or SR, until it is built
    stream_sender tx;
    stream_receiver rx;
    stream_incarnations incarnations;
    orphan early; //!< PDUs that wait until the incarnation of their direction is known
    std::optional<stream_accept> doubted; //!< SR of another start than the notice named
    stream_ending ending;
    ring_place ring;
    stream_burst burst;
    bool want_writable = false;
    stream_deadlines due;
    reception_gap gap;
    peer_life life;
    window_control control;
    stream_octets count;
    uint16_t open_name() const
    {
        return name.opener ? incarnations.out.name() : incarnations.in.name();
    }
    //! Order of service of the next PDU.
    uint8_t level() const
    {
        return slep::level(options.service_class, burst.how_fresh());
    }
    //! Priority of a U_PDU sent now. \p asks: the peer should answer it.
    uint8_t priority(bool asks) const;
    //! The peer must be asked whether its user has all of a direction.
    bool confirms_end() const
    {
        return incarnations.in.used && incarnations.out.used && !options.one_way;
    }
    //! The peer must still learn that our user has all its data. Until then it may hold
    //! our end back from its user.
    bool will_owe_end() const
    {
        return confirms_end() && !ending.known_to_peer && !ending.shown;
    }
    bool owes_end() const { return will_owe_end() && tx.fin_built() && rx.complete(); }
    //! We have no PDU on its way that would show whether the peer is alive.
    bool only_waits() const
    {
        return state == stream_state::open && tx.next_number() > 0 &&
               tx.unconfirmed() == 0 && !control.in_sis && !life.asked;
    }
    //! SIS has settled data PDU \p number. SR must arrive by \p answer_until.
    void data_settled(station_time now,
                      uint64_t number,
                      bool rejected,
                      station_time answer_until);
    //! SIS has settled an SC. If it asks, the answer must arrive by \p answer_until.
    void window_settled(station_time now, bool rejected, station_time answer_until);
    //! Description for displays.
    stream_info info() const;
};

//! The streams of one endpoint.
class stream_table
{
public:
    explicit stream_table(endpoint_context& c) : d_ctx(c) {}

    //! nullptr: no such stream.
    stream* find(stream_id id);
    const stream* find(stream_id id) const;
    //! The stream that a PDU of the peer with this SID is for.
    stream* by_sid(const peer_state& p, uint8_t sid);
    bool full() const { return d_streams.size() >= d_ctx.config.streams_max; }
    stream& add(peer_state& p, side who, uint8_t number, const stream_options& o);
    //! The number then rests as in \p rest.
    void remove(const stream& s, const resting& rest);
    //! All streams, by id.
    std::map<stream_id, stream>& all() { return d_streams; }
    const std::map<stream_id, stream>& all() const { return d_streams; }
    std::vector<stream_id> ids() const;

private:
    endpoint_context& d_ctx;
    std::map<stream_id, stream> d_streams;
};

} // namespace gr::hf::slep
