/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"
#include "s5066/pdu/eow.h"

#include <deque>
#include <optional>

namespace gr::hf::s5066 {

/*! \brief Exchange of MANAGEMENT D_PDUs with one peer (C.3.2.9): one message at a time,
 *         each acknowledged. Repeats are acknowledged again but not acted on.
 */
class management_exchange
{
public:
    //! New connection: frame identifications from 0, empty queue.
    void reset();
    //! Queues a message; ignored if the queue is full.
    void send(management_message m);
    //! A message waits for its acknowledgement, or to be sent.
    bool active() const { return !d_queue.empty(); }
    //! Something should be sent: a message, or the acknowledgement of one.
    bool due() const { return d_ack_due || (active() && !d_sent); }

    //! Contents of the next MANAGEMENT D_PDU: message, acknowledgement, or both.
    struct out {
        uint16_t eow = 0;
        management_header header;
    };
    //! Call only if due().
    out take();

    //! Contents of a received MANAGEMENT D_PDU.
    struct in {
        std::optional<uint16_t> acked; //!< EOW of our message that it acknowledges
        bool repeated = false;
        std::optional<management_message> message; //!< a new one
    };
    in on_received(uint16_t eow, const management_header& h);

    /*! \brief No answer arrived: the message is sent again.
     *  \return number of its transmissions
     */
    unsigned on_silence();
    //! Sends the acknowledgement of the last message again.
    void repeat_ack() { d_ack_due = true; }
    //! Removes our own messages.
    void withdraw();

private:
    static constexpr size_t max_queue = 4;

    std::deque<management_message> d_queue; // the first one is being sent
    uint8_t d_id = 0;                       // of the first one
    bool d_sent = false;                    // sent, waits for its acknowledgement
    unsigned d_tries = 0;
    bool d_ack_due = false;
    std::optional<uint8_t> d_heard_id;
};

} // namespace gr::hf::s5066
