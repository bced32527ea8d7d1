/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::s5066 {

//! Present activity of a node, or what keeps it from transmitting.
enum class node_phase {
    idle,
    holding, //!< for pauses around transmissions, and for other stations
    transmitting,
    receiving,
    waiting_answer,
    other_signal, //!< the modem detects a signal that it does not receive
    no_channel,   //!< link establishment has no channel for what is to be sent
};
const char* to_string(node_phase p);

} // namespace gr::hf::s5066
