/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/peers.h"
#include "slep/stream.h"

#include <map>

namespace gr::hf::slep {

enum class stream_state { opening, offered, open };

//! One stream: its two directions and their state.
struct stream {
    stream(const endpoint_config& c, const stream_options& o);
    stream_id id = 0;
    peer_state* p = nullptr;
    uint8_t number = 0;
    uint8_t use = 0; //!< opener: earlier uses of this number
    bool opener = false;
    stream_state state = stream_state::opening;
    stream_options options;
    octets open_data; //!< open-data of SO or SR, until it is built
    stream_sender tx;
    stream_receiver rx;
    //! Incarnations of the two directions. The opener learns the other one from SR.
    //! Earlier PDUs wait in \ref early.
    incarnation out, in;
    bool in_known = true;
    orphan early;
    bool end_confirmed = false; //!< the peer's user has all of our direction
    bool end_shown = false;     //!< the peer has confirmed it with its own end
    bool end_told = false;      //!< the peer knows that our user has all of the peer's
                                //!< direction
    bool in_ring = false;       //!< in the ring of stream_scheduler
    long deficit = 0;           //!< deficit of the round robin, octets
    size_t burst = 0;           //!< octets of PDUs built since nothing was on its way
    size_t fresh_octets;        //!< octets of a burst that go before bulk
    bool want_writable = false;
    std::optional<station_time> accept_at; //!< deadline for sending SR
    std::optional<station_time> answer_by; //!< deadline for receiving SR
    std::optional<station_time> probe_at;  //!< when to ask whether the peer knows the
                                           //!< stream
    std::optional<station_time> gap_since;
    std::optional<station_time>
        stalled_since; //!< first reject of a PDU without a confirm since
    //! Last sign of life of the peer: a PDU or a confirm. Before any, the start of the
    //! stream.
    station_time life_at{};
    bool life_asked = false; //!< asked since then
    uint64_t gap_at = 0;
    //! Our receive window is shut, as reported to the peer or in an SC in SIS.
    bool shut = false;
    bool control_due = false;
    bool control_ask = false;
    bool control_in_sis = false;
    std::optional<station_time> ask_window_at; //!< when to ask: the peer's window stays
                                               //!< shut
    uint64_t octets_sent = 0, octets_received = 0;
    uint64_t octets_asked = 0; //!< part of octets_sent in PDUs that ask for an answer
    uint8_t sid() const
    {
        return static_cast<uint8_t>(number | (opener ? 0 : sid_responder));
    }
    side which() const { return opener ? opened_here : opened_there; }
    uint16_t open_name() const { return opener ? out.name() : in.name(); }
    //! Freshness of the next PDU.
    freshness how_fresh() const;
    //! Order of service of the next PDU.
    uint8_t level() const { return slep::level(options.service_class, how_fresh()); }
    //! Priority of a U_PDU sent now. \p asks: the peer should answer it.
    uint8_t priority(bool asks) const;
    //! The peer must be asked whether its user has all of a direction.
    bool confirms_end() const { return in.used && out.used && !options.one_way; }
    //! The peer must still learn that our user has all its data. Until then it may hold
    //! our end back from its user.
    bool will_owe_end() const { return confirms_end() && !end_told && !end_shown; }
    bool owes_end() const { return will_owe_end() && tx.fin_built() && rx.complete(); }
    //! We have no PDU on its way that would show whether the peer is alive.
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
    //! A PDU of the peer reports whether its user has all of our direction.
    void end_said(bool ended)
    {
        end_shown = end_shown || ended;
        end_confirmed = end_confirmed || ended;
    }
    //! SIS has settled data PDU \p number. SR must arrive by \p answer_until.
    void data_settled(station_time now,
                      uint64_t number,
                      bool rejected,
                      station_time answer_until);
    //! SIS has settled an SC.
    void window_settled(station_time now, bool rejected);
    //! Description for displays.
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
