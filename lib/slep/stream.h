/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/codec.h"
#include "slep/deflate.h"
#include "slep/digest.h"
#include <hf/station_time.h>

#include <map>
#include <memory>
#include <optional>
#include <set>

/*! \file The two directions of a stream as data structures. The sender numbers, keeps and
 *  repeats PDUs. The receiver orders and delivers them. Numbers count PDUs from 0 (SO or
 *  SR) without wrapping. On the air they are modulo 65536.
 */
namespace gr::hf::slep {

//! Limit of unconfirmed PDUs of a direction: more than the 1871 full ones of a longest
//! transmission at 240 kbit/s. A larger limit would let stray PDUs of an earlier stream
//! fit in more easily.
constexpr uint64_t stream_span = 2048;
//! With this many unconfirmed PDUs, less than half full on average, only full ones are
//! built.
constexpr size_t small_pdus = 512;

//! Sending direction.
class stream_sender
{
public:
    //! \param buffer octets that may wait; \param hold wait of a PDU that is not full
    //! \param dictionary of the compressor, \ref preset
    stream_sender(size_t buffer, station_time hold, bool compress, uint8_t dictionary);

    //! Octets that write() accepts.
    size_t room() const;
    size_t write(station_time now, const uint8_t* p, size_t n, bool push);
    void finish();
    bool finished() const { return d_finish; }
    //! Octets that wait for a PDU.
    size_t waiting() const { return d_buffer.size() - d_taken; }

    //! The number of the next new PDU. 0: SO or SR was not built yet.
    uint64_t next_number() const { return d_next; }
    //! A new PDU of at most \p full data octets can and should be built.
    bool due(size_t full) const;
    //! There is data for SR, or no data will follow at all.
    bool has_first_data() const { return d_push || d_finish; }
    struct part {
        octets data;
        bool fin = false;
    };
    //! Data of the next PDU. Its number is the current next_number().
    part take(size_t full);
    //! Keep PDU \p number, just built and passed to SIS.
    void keep(uint64_t number, octets wire);

    //! Number of the first PDU that must be sent again.
    std::optional<uint64_t> to_resend() const;
    //! The PDU to pass to SIS again.
    const octets& resend(uint64_t number);
    //! SIS has delivered PDU \p number. It is kept until the peer counts it in its ACK,
    //! since another station may have taken its place on the data link.
    void confirmed(uint64_t number);
    void rejected(uint64_t number);
    //! The peer expects a confirmed PDU next, which is kept.
    bool holds_confirmed(uint16_t ack) const
    {
        return d_confirmed.pdus.count(expected(ack)) != 0;
    }
    /*! \brief The peer misses the PDU that it expects next, though SIS has confirmed it.
     *  \return true if that PDU is sent again. false: it is not kept any more, or was
     *         sent again too often
     */
    bool send_again(uint16_t ack);
    //! All lower numbers were confirmed.
    uint64_t confirmed_below() const
    {
        return d_kept.empty() ? d_next : d_kept.begin()->first;
    }

    //! ACK and WIN of the peer. False: they cannot be for this direction, nothing
    //! changes.
    bool window(uint16_t ack, uint8_t win);
    //! Whether \p ack, as in window(), covers FIN.
    bool ends_at(uint16_t ack) const
    {
        return d_fin_built && ack == static_cast<uint16_t>(d_next);
    }
    //! Digest of all octets written.
    uint32_t digest() const { return d_digest.value(); }
    //! FIN was put into a PDU.
    bool fin_built() const { return d_fin_built; }
    bool window_shut() const { return d_next >= d_limit; }
    //! FIN and all PDUs before it are confirmed.
    bool done() const { return d_fin_built && d_kept.empty(); }
    size_t unconfirmed() const { return d_kept_octets; }
    //! Whether every octet was confirmed. A compressor may hold some that do not wait yet.
    bool sent_all() const { return waiting() == 0 && d_kept.empty() && !d_hold_until; }

    std::optional<station_time> hold_until() const { return d_hold_until; }
    void hold_over();

private:
    void flush_compressed(deflater::flush f);
    uint64_t expected(uint16_t ack) const
    {
        return d_next - static_cast<uint16_t>(static_cast<uint16_t>(d_next) - ack);
    }

    size_t d_limit_octets;
    station_time d_hold;
    bool d_compress;
    uint8_t d_dictionary;
    std::unique_ptr<deflater> d_deflater; // made when there is data to compress
    stream_digest d_digest;
    octets d_buffer;
    size_t d_taken = 0; // octets taken from d_buffer, which is shortened now and then
    bool d_push = false;
    bool d_finish = false;
    bool d_fin_built = false;
    std::optional<station_time> d_hold_until;
    uint64_t d_next = 0;
    uint64_t d_limit = UINT64_MAX; // first number beyond the peer's window
    std::map<uint64_t, octets> d_kept;
    size_t d_kept_octets = 0;
    std::set<uint64_t> d_resend;
    // Confirmed PDUs that the peer does not count in its ACK yet.
    struct confirmed_pdus {
        std::map<uint64_t, octets> pdus;
        size_t octets_kept = 0;
        uint64_t again = 0;       // the last number sent again
        unsigned again_count = 0; // how often
    };
    confirmed_pdus d_confirmed;
};

//! Receiving direction.
class stream_receiver
{
public:
    /*! \param high unread octets at which delivery to the user stops
     *  \param hard octets held beyond that at most
     */
    stream_receiver(size_t high, size_t hard) : d_high(high), d_hard(hard) {}

    enum class verdict {
        taken,
        duplicate, //!< drop it
        beyond,    //!< too far ahead
        violation  //!< too much, or data after FIN: end the stream
    };
    //! \p digest: the sender's, with FIN. Empty: it gives none.
    verdict put(uint16_t seq,
                octets data,
                bool fin,
                std::optional<uint32_t> digest = std::nullopt);
    //! All data from now on is one DEFLATE stream.
    void set_compressed(uint8_t dictionary)
    {
        d_inflater = std::make_unique<inflater>(dictionary);
    }

    enum class step {
        none,
        data,
        fin,
        damaged, //!< no DEFLATE stream
        altered  //!< FIN has another digest than the octets that arrived
    };
    //! Next octets in order for the user. \p hold_fin keeps the end back.
    step next(octets& out, bool hold_fin = false);
    void consumed(size_t n) { d_unread -= n < d_unread ? n : d_unread; }

    //! Next number expected, for an SC. All lower ones were delivered. FIN counts only
    //! when the user has consumed everything.
    uint16_t ack() const
    {
        return static_cast<uint16_t>(d_deliver - (d_fin_ready && d_unread > 0));
    }
    //! FIN does not count in ack(), because the user has data to consume.
    bool end_unread() const { return d_fin_ready && d_unread > 0; }
    //! FIN has arrived, and the user has consumed all data before it.
    bool complete() const { return d_fin_ready && d_unread == 0; }
    bool fin_delivered() const { return d_fin_delivered; }
    //! The peer will send no data: one-way stream.
    void set_ended() { d_fin_delivered = true; }
    size_t unread() const { return d_unread; }
    //! Octets held back because a PDU before them is missing, or too much is unread. With
    //! an allowance.
    size_t held_octets() const { return d_held_octets; }
    //! A PDU is missing before one that has arrived.
    bool gap() const { return !d_held.empty() && d_held.rbegin()->first >= d_received; }
    //! The lowest missing number.
    uint64_t received() const { return d_received; }

private:
    struct held {
        octets data;
        bool fin;
    };
    size_t d_high, d_hard;
    std::unique_ptr<inflater> d_inflater;
    stream_digest d_digest; // of all octets for the user
    std::optional<uint32_t> d_sent_digest;
    std::map<uint64_t, held> d_held;
    size_t d_held_octets = 0; // includes an allowance per PDU
    size_t d_unread = 0;
    uint64_t d_received = 0;
    uint64_t d_deliver = 0;
    std::optional<uint64_t> d_fin;
    bool d_fin_ready = false; // FIN is next: its data was delivered, the end not yet
    bool d_fin_delivered = false;
};

} // namespace gr::hf::slep
