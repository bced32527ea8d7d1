/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/codec.h"
#include "slep/deflate.h"
#include <hf/time.h>

#include <map>
#include <memory>
#include <optional>
#include <set>

/*! \file
 *  The two directions of a stream as data structures: numbering, keeping and repeating on
 *  one side, ordering and delivering on the other. Numbers count PDUs from 0 (SO or SR)
 *  without wrapping; on the air they are taken modulo 65536.
 */
namespace gr::hf::slep {

//! At most so many PDUs of a direction are unconfirmed: more than the 1871 full ones of a longest
//! transmission at 240 kbit/s. The more, the easier a stray PDU of an earlier stream fits in.
constexpr uint64_t stream_span = 2048;
//! From so many unconfirmed PDUs on, less than half full on average, only full ones are built.
constexpr size_t small_pdus = 512;

//! Sending direction.
class stream_sender
{
public:
    //! \param buffer octets that may wait; \param hold for a PDU that is not full
    //! \param dictionary of the compressor, \ref preset
    stream_sender(size_t buffer, station_time hold, bool compress, uint8_t dictionary);

    //! Octets that write() takes.
    size_t room() const;
    size_t write(station_time now, const uint8_t* p, size_t n, bool push);
    void finish();
    bool finished() const { return d_finish; }
    //! Octets that wait for a PDU.
    size_t waiting() const { return d_buffer.size() - d_taken; }

    //! The number that the next new PDU gets; 0: SO or SR was not built yet.
    uint64_t next_number() const { return d_next; }
    //! A new PDU of at most \p full data octets may and should be built.
    bool due(size_t full) const;
    //! There is data for SR, or nothing will come any more.
    bool has_first_data() const { return d_push || d_finish; }
    struct part {
        octets data;
        bool fin = false;
    };
    //! Data of the next PDU; its number is the present next_number().
    part take(size_t full);
    //! Keep PDU \p number, just built and given to SIS.
    void keep(uint64_t number, octets wire);

    //! Number of the first PDU that must be sent again.
    std::optional<uint64_t> to_resend() const;
    //! The PDU to give to SIS again.
    const octets& resend(uint64_t number);
    void confirmed(uint64_t number);
    void rejected(uint64_t number);

    //! ACK and WIN of the peer; false: it cannot be for this direction, nothing changes.
    bool window(uint16_t ack, uint8_t win);
    //! \p ack, as in window(), covers FIN.
    bool ends_at(uint16_t ack) const
    {
        return d_fin_built && ack == static_cast<uint16_t>(d_next);
    }
    //! FIN was put into a PDU.
    bool fin_built() const { return d_fin_built; }
    bool window_shut() const { return d_next >= d_limit; }
    //! FIN and all before it are confirmed.
    bool done() const { return d_fin_built && d_kept.empty(); }
    size_t unconfirmed() const { return d_kept_octets; }

    std::optional<station_time> hold_until() const { return d_hold_until; }
    void hold_over();

private:
    void flush_compressed(deflater::flush f);

    size_t d_limit_octets;
    station_time d_hold;
    bool d_compress;
    uint8_t d_dictionary;
    std::unique_ptr<deflater> d_deflater; // made when there is something to compress
    octets d_buffer;
    size_t d_taken = 0; // of d_buffer; it is shortened now and then
    bool d_push = false;
    bool d_finish = false;
    bool d_fin_built = false;
    std::optional<station_time> d_hold_until;
    uint64_t d_next = 0;
    uint64_t d_limit = UINT64_MAX; // first number that the peer's window forbids
    std::map<uint64_t, octets> d_kept;
    size_t d_kept_octets = 0;
    std::set<uint64_t> d_resend;
};

//! Receiving direction.
class stream_receiver
{
public:
    /*! \param high unread octets from which on nothing more is handed out
     *  \param hard octets held beyond that at most
     */
    stream_receiver(size_t high, size_t hard) : d_high(high), d_hard(hard) {}

    enum class verdict {
        taken,
        duplicate, //!< drop it
        beyond,    //!< too far ahead
        violation  //!< too much, or data after FIN: give the stream up
    };
    verdict put(uint16_t seq, octets data, bool fin);
    //! All data from now on is one DEFLATE stream.
    void set_compressed(uint8_t dictionary)
    {
        d_inflater = std::make_unique<inflater>(dictionary);
    }

    enum class step { none, data, fin, damaged };
    //! Next in order for the user; \p hold_fin keeps the end back.
    step next(octets& out, bool hold_fin = false);
    void consumed(size_t n) { d_unread -= n < d_unread ? n : d_unread; }

    //! Next number expected in an SC: all lower ones were handed over, and FIN only when the
    //! user has consumed everything.
    uint16_t ack() const
    {
        return static_cast<uint16_t>(d_deliver - (d_fin_ready && d_unread > 0));
    }
    //! FIN is here, and the user has consumed all before it.
    bool complete() const { return d_fin_ready && d_unread == 0; }
    bool fin_delivered() const { return d_fin_delivered; }
    //! The peer will send nothing: one-way stream.
    void set_ended() { d_fin_delivered = true; }
    size_t unread() const { return d_unread; }
    //! Held back: a PDU before them is missing, or too much is unread. With an allowance.
    size_t held_octets() const { return d_held_octets; }
    //! A PDU is missing before one that is here.
    bool gap() const { return !d_held.empty() && d_held.rbegin()->first >= d_received; }
    //! The lowest number that is missing.
    uint64_t received() const { return d_received; }

private:
    struct held {
        octets data;
        bool fin;
    };
    size_t d_high, d_hard;
    std::unique_ptr<inflater> d_inflater;
    std::map<uint64_t, held> d_held;
    size_t d_held_octets = 0; // with an allowance per PDU
    size_t d_unread = 0;
    uint64_t d_received = 0;
    uint64_t d_deliver = 0;
    std::optional<uint64_t> d_fin;
    bool d_fin_ready = false; // its data was handed over, the end not yet
    bool d_fin_delivered = false;
};

} // namespace gr::hf::slep
