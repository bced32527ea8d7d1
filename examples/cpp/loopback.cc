/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Sends one message at 600 bit/s over the ITU-R Poor channel and prints what the receiver
// decodes. The receiver detects the mode by itself.
#include <gnuradio/blocks/message_debug.h>
#include <gnuradio/hf/channel.h>
#include <gnuradio/hf/keys.h>
#include <gnuradio/hf/rx.h>
#include <gnuradio/hf/tx.h>
#include <gnuradio/top_block.h>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

int main(int argc, char** argv)
{
    const std::string text = argc > 1 ? argv[1] : "CQ CQ de gr-hf";
    auto flow = gr::make_top_block("loopback");
    auto tx = gr::hf::tx::make("4539-600S");
    auto channel = gr::hf::channel::make("poor snr=15");
    auto rx = gr::hf::rx::make();
    auto received = gr::blocks::message_debug::make();
    flow->connect(tx, 0, channel, 0);
    flow->connect(channel, 0, rx, 0);
    flow->msg_connect(rx, "pdus", received, "store");

    // A PDU: metadata (none needed here) and octets.
    tx->_post(pmt::mp("pdus"),
              pmt::cons(pmt::make_dict(),
                        pmt::init_u8vector(
                            text.size(), reinterpret_cast<const uint8_t*>(text.data()))));
    flow->start();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (received->num_messages() == 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flow->stop();
    flow->wait();
    if (received->num_messages() == 0) {
        std::cerr << "nothing was received\n";
        return 1;
    }

    const auto pdu = received->get_message(0);
    size_t length = 0;
    const uint8_t* octets = pmt::u8vector_elements(pmt::cdr(pdu), length);
    const auto value = [&pdu](const pmt::pmt_t& key) {
        return pmt::write_string(pmt::dict_ref(pmt::car(pdu), key, pmt::PMT_NIL));
    };
    std::cout << value(gr::hf::keys::mode()) << ", SNR " << value(gr::hf::keys::snr_db())
              << " dB: " << std::string(octets, octets + length) << '\n';
}
