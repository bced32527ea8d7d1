/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/peers.h"
#include "slep/stream.h"

#include <map>

namespace gr::hf::slep {

enum class stream_state { opening, offered, open };

//! One stream: its two directions, and what is known and owed about them.
struct stream {
    stream(const endpoint_config& c, const stream_options& o);
    stream_id id = 0;
    peer_state* p = nullptr;
    uint8_t number = 0;
    uint8_t use = 0; //!< opener: of this number before
    bool opener = false;
    stream_state state = stream_state::opening;
    stream_options options;
    octets open_data; //!< of SO or SR, until it is built
    stream_sender tx;
    stream_receiver rx;
    //! Of the two directions. The opener learns the other one from SR; what comes before it
    //! waits in \ref early.
    incarnation out, in;
    bool in_known = true;
    orphan early;
    bool end_confirmed = false; //!< the peer's user has all of our direction
    bool end_shown = false;     //!< and the peer has said so with its own end
    bool end_told = false;      //!< the peer knows that our user has all of the other
    bool in_ring = false;       //!< of stream_scheduler
    long deficit = 0;           //!< of the round robin, octets
    size_t burst = 0;           //!< octets of PDUs built since nothing was under way
    size_t fresh_octets;        //!< of a burst that go ahead of bulk
    bool want_writable = false;
    std::optional<station_time> accept_at; //!< SR leaves at the latest
    std::optional<station_time> answer_by; //!< SR has to come
    std::optional<station_time> probe_at;  //!< ask whether the peer knows the stream
    std::optional<station_time> gap_since;
    std::optional<station_time>
        stalled_since; //!< first reject of a PDU, no confirm after it
    //! Last sign that the peer is there: a PDU of it, a confirm; before, the begin of the stream.
    station_time life_at{};
    bool life_asked = false; //!< since then
    uint64_t gap_at = 0;
    //! Own receive window: what the peer was told, or is being told by an SC in SIS.
    bool shut = false;
    bool control_due = false;
    bool control_ask = false;
    bool control_in_sis = false;
    std::optional<station_time> ask_window_at; //!< the peer's window stays shut
    uint64_t octets_sent = 0, octets_received = 0;
    uint64_t octets_asked = 0; //!< of octets_sent: in PDUs
    uint8_t sid() const
    {
        return static_cast<uint8_t>(number | (opener ? 0 : sid_responder));
    }
    side which() const { return opener ? opened_here : opened_there; }
    uint16_t open_name() const { return opener ? out.name() : in.name(); }
    //! How new what leaves now is.
    freshness how_fresh() const;
    //! Order of service of what leaves now.
    uint8_t level() const { return slep::level(options.service_class, how_fresh()); }
    //! Priority of a U_PDU that leaves now; \p asks: the peer is to answer it.
    uint8_t priority(bool asks) const;
    //! The peer's user has to be asked whether all of a direction arrived.
    bool confirms_end() const { return in.used && out.used && !options.one_way; }
    //! The peer may hold our end back from its user until it hears this.
    bool will_owe_end() const { return confirms_end() && !end_told && !end_shown; }
    bool owes_end() const { return will_owe_end() && tx.fin_built() && rx.complete(); }
    //! Nothing of ours is under way that would show whether the peer is still there.
    bool only_waits() const
    {
        return state == stream_state::open && tx.next_number() > 0 &&
               tx.unconfirmed() == 0 && !control_in_sis && !life_asked;
    }
    void alive(station_time now)
    {
        life_at = now;
        life_asked = false;
    }
    //! The peer has said with a PDU that its user has all of our direction, or not.
    void end_said(bool ended)
    {
        end_shown = end_shown || ended;
        end_confirmed = end_confirmed || ended;
    }
    //! SIS is done with data PDU \p number; until \p answer_until an SR has to come.
    void data_settled(station_time now,
                      uint64_t number,
                      bool rejected,
                      station_time answer_until);
    //! SIS is done with an SC.
    void window_settled(station_time now, bool rejected);
    //! For displays.
    stream_info info() const;

private:
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

//! The streams of one endpoint.
class stream_table
{
public:
    explicit stream_table(endpoint_context& c) : d_ctx(c) {}

    //! nullptr: there is none.
    stream* find(stream_id id);
    const stream* find(stream_id id) const;
    //! The stream that a PDU of the peer with this SID is for.
    stream* by_sid(const peer_state& p, uint8_t sid);
    bool full() const { return d_streams.size() >= d_ctx.config.streams_max; }
    stream& add(peer_state& p, side who, uint8_t number, const stream_options& o);
    //! Its number then rests as \p rest says.
    void remove(const stream& s, const resting& rest);
    //! By id.
    std::map<stream_id, stream>& all() { return d_streams; }
    const std::map<stream_id, stream>& all() const { return d_streams; }
    std::vector<stream_id> ids() const;

private:
    endpoint_context& d_ctx;
    std::map<stream_id, stream> d_streams;
};

} // namespace gr::hf::slep
