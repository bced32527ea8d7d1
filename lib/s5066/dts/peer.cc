/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/peer.h"

namespace gr::hf::s5066 {

void arq_state::use_numbers(bool of_16_bits)
{
    if (large == of_16_bits) {
        return;
    }
    large = of_16_bits;
    // One number less than half of all leaves one for a question (transmission_builder).
    tx.set_window(large ? fsn_space(true).half() - 1 : small_window, large);
    tx.set_window_octets(SIZE_MAX);
    rx = arq_receiver(large);
}

dts_state peer::state() const
{
    if (managing()) {
        return dts_state::management;
    }
    if (!expedited.tx.idle() || expedited.rx.inside()) {
        return dts_state::expedited;
    }
    return arq.tx.idle() && !arq.rx.incomplete() ? dts_state::idle : dts_state::data;
}

backlog peer::unsent() const
{
    backlog all = arq.tx.unsent();
    all += expedited.tx.unsent();
    return all += non_arq.unsent();
}

void peer::new_connection()
{
    restart_arq();
    arq.data_last = expedited.data_last = false;
    end_connection();
}

void peer::end_connection()
{
    arq.tx.rewind(0);
    expedited.tx.restart();
    expedited.ack_due = false;
    turn.acks_alone = 0;
    management.reset();
    management.advised.reset();
}

void peer::restart_arq()
{
    arq.rx.reset();
    arq.tx.rewind(0);
    expedited.rx.reset();
    expedited.tx.restart();
    expedited.ack_due = false;
}

} // namespace gr::hf::s5066
