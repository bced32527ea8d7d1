/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/peer/peer.h"

#include <algorithm>

namespace gr::hf::s5066 {

void arq_state::use_numbers(bool of_16_bits)
{
    if (large == of_16_bits)
        return;
    large = of_16_bits;
    // One number less than half of all leaves one for an empty request for an ACK
    // (transmission_builder).
    tx.set_window(large ? fsn_space(true).half() - 1 : small_window, large);
    tx.set_window_octets(SIZE_MAX);
    rx = arq_receiver(large);
}

void turn_state::on_prompt(station_time now, flow_number flow)
{
    // A request so soon after the last answer is from a program that asks many times: a
    // log-in, or one query after another. Two short transmissions, because the first may
    // come too early for the answer.
    constexpr unsigned quick_turns = 2;
    if (!prompted && prompt_at && now - *prompt_at < same_conversation)
        quick = quick_turns;
    prompted = true;
    prompt_at = now;
    quick_credits.prompted(now, flow);
}

void turn_state::begin_own(station_time now, bool is_quick, station_time least)
{
    // Duration of an exchange beside bulk data.
    same_conversation = least + least / 4;
    quick_credits.refill(now);
    if (is_quick)
        quick_credits.take();
    quick -= quick > 0 ? 1 : 0;
    prompted = ask_waits = false;
}

dts_state peer::state() const
{
    if (managing())
        return dts_state::management;
    if (!expedited.tx.idle() || expedited.rx.inside())
        return dts_state::expedited;
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
