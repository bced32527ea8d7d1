/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/sis_queue.h"
#include "slep/stream_table.h"

#include <array>
#include <deque>

namespace gr::hf::slep {

/*! \brief Chooses the stream that sends next, and the PDU: repeats first, then SC, then a
 *         new PDU.
 *  \details PDUs are built only when SIS has room for them. Streams of one class take
 *  turns by octets (deficit round robin). New or small amounts go before bulk. First
 *  exchanges go before everything else, in any class.
 */
class stream_scheduler
{
public:
    stream_scheduler(endpoint_context& c, sis_queue& sis, stream_table& streams)
        : d_ctx(c), d_sis(sis), d_streams(streams)
    {
    }
    //! The stream has changed. It takes turns if it has something to send.
    void make_ready(stream& s);
    //! Next S_primitive of first exchanges of a class, 0 to 7. Empty: nothing can be sent
    //! now.
    std::optional<octets> poll_first(uint8_t service_class)
    {
        return poll(service_class, freshness::first);
    }
    //! Next S_primitive of everything else. Each class gets twice the share of the next.
    std::optional<octets> poll_shared();

private:
    std::optional<octets> poll(uint8_t service_class, freshness how);
    bool has_work(const stream& s) const;
    bool open_due(const stream& s) const;
    octets next_of(stream& s);
    octets send_control(stream& s);
    octets build_open(stream& s, size_t size);
    octets build_data(stream& s, size_t size);

    endpoint_context& d_ctx;
    sis_queue& d_sis;
    stream_table& d_streams;
    std::array<std::deque<stream_id>, service_classes>
        d_ring; // streams with something to send, by class
    // Start-time fair queueing (Goyal, Vin and Cheng, 1996) of the classes.
    std::array<uint64_t, service_classes> d_class_end{};
    uint64_t d_virtual_time = 0;
};

} // namespace gr::hf::slep
