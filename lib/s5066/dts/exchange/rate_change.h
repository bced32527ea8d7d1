/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/exchange/management.h"

namespace gr::hf::s5066 {

/*! \brief Data rate change with one peer (C.6.4). The sender of data is the master and
 *         asks; the other node is the slave.
 *
 * Sequence: request, accept, DT_ACK, confirm, DT_ACK; or refuse, cancel, DT_ACK. Messages
 * travel in a management_exchange. Rates hold only for this connection, which starts at
 * 300 bit/s with the short interleaver.
 */
class rate_change
{
public:
    //! What the slave checks a request against.
    struct limits {
        bool offered = true;         //!< false: every request is refused, reason 4
        std::optional<mode> advised; //!< mode that the receiver advised last
        //! If requests cross, ours continues and the peer has to ask again later.
        bool first_of_crossed = false;
    };

    //! New connection.
    void reset();
    //! An exchange is under way.
    bool active() const { return d_state != state::idle; }
    //! Modes in which D_PDUs of the connection are sent and expected.
    const mode& tx_mode() const { return d_tx; }
    const mode& rx_mode() const { return d_rx; }
    //! True if the peer lacks this procedure, refused \p m, or no request can name \p m.
    bool useless(const mode& m) const;
    //! The peer has sent new advice: asking makes sense again.
    void on_advice() { d_refused.reset(); }

    //! The peer does not support the procedure.
    void give_up()
    {
        d_unknown = true;
        d_state = state::idle;
    }
    /*! \brief As master, requests another mode for our transmitter.
     *  \throws std::invalid_argument for a mode without a code in encode_rate_request()
     */
    void start(const mode& m, rate_other other, management_exchange& x);
    //! A new message arrived.
    void on_message(const management_message& m, const limits& l, management_exchange& x);
    //! Our message with \p eow was acknowledged by a D_PDU without a message.
    void on_acked(uint16_t eow, management_exchange& x);
    //! True if the peer, as slave, still has to confirm.
    bool wants_confirm() const { return d_state == state::wait_confirm; }
    //! True if an acknowledgement ends the exchange even when a message comes with it.
    bool ends_with_ack() const
    {
        return d_state == state::confirmed || d_state == state::cancelled;
    }
    /*! \brief A D_PDU with data or their ACK arrived: the peer has left the MANAGEMENT
     *         state.
     *  \details So the peer's last message was lost: the confirm, or a DT_ACK.
     */
    void on_data(management_exchange& x);
    /*! \brief As slave that has confirmed: a D_PDU in the old mode repeats the DT_ACK
     *         from before the change, which does not name what it acknowledges.
     *  \details If only such D_PDUs arrive for long, the master has given up the exchange
     *         without changing. Then we go back, too.
     */
    bool outdated(const mode& received_in, management_exchange& x);
    /*! \brief The slave's last step is over: it must now send something, an empty data
     *         D_PDU if need be.
     */
    bool take_finished_as_slave();

    //! True if \p a has a higher rate, or the same rate and a shorter interleaver.
    static bool less_robust(const mode& a, const mode& b);
    //! 300 bit/s, short interleaver.
    static mode initial();

private:
    enum class state {
        idle,
        requested,    // master: waits for the response
        wait_confirm, // master: accepted, waits for the confirm
        cancelled,    // master: waits for the DT_ACK of the cancel
        accepted,     // slave: waits for DT_ACK, cancel or another request
        refused,      // slave: waits for DT_ACK, cancel or another request
        confirmed,    // slave: waits for the DT_ACK of the confirm
    };

    void on_request(const rate_parameters& p, const limits& l, management_exchange& x);
    void on_answer(uint16_t eow, management_exchange& x);
    void finish_as_slave();
    void change_as_master();

    state d_state = state::idle;
    mode d_tx = initial();
    mode d_rx = initial();
    mode d_new;
    mode d_old, d_old_tx;    // of receiver and transmitter, before the change
    unsigned d_outdated = 0; // D_PDUs in the old mode since the change
    bool d_equal = false;
    bool d_unknown = false;
    bool d_slave_finished = false;
    std::optional<mode> d_refused;
};

} // namespace gr::hf::s5066
