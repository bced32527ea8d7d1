/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Packets and datagrams of MIL-STD-188-110C Appendix A, interleaver sets, the control line.
#include "fuzz/input.h"
#include "modem_interface/interleaver_set.h"
#include "s5066/pdu/crc.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;
using namespace gr::hf::modem_interface;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    tcp_deframer deframer;
    // Without a first packet it takes nothing.
    const auto first = encode(tcp_packet{});
    deframer.push(first.data(), first.size());
    FUZZ_CHECK(deframer.next());
    for (size_t at = 0; at < n; at += 61) {
        deframer.push(p + at, std::min<size_t>(61, n - at));
        while (const auto packet = deframer.next())
            FUZZ_CHECK(packet->payload.size() <= max_tcp_payload);
        FUZZ_CHECK(deframer.held() < tcp_header_octets + max_tcp_payload + 2);
    }
    const fuzz::octets all(p, p + std::min(n, max_tcp_payload));
    if (const auto payload = parse_payload(all)) {
        const auto packet = encode(*payload);
        tcp_deframer again;
        again.push(packet.data(), packet.size());
        const auto back = again.next();
        FUZZ_CHECK(back && back->payload == all);
    }

    parse_datagram(p, n);
    parse_control_line(std::string(p, p + n));
    input in(p, n);
    set_decoder decoder;
    while (!in.empty()) {
        auto datagram = in.record();
        if (!datagram.empty())
            datagram[0] = static_cast<uint8_t>(0x10 | (datagram[0] & 15));
        const uint16_t crc = s5066::crc16(datagram.data(), datagram.size());
        datagram.push_back(static_cast<uint8_t>(crc >> 8));
        datagram.push_back(static_cast<uint8_t>(crc));
        const auto packet = parse_datagram(datagram.data(), datagram.size());
        if (!packet)
            continue;
        FUZZ_CHECK(parse_datagram(encode(*packet).data(), encode(*packet).size()));
        if (const auto* data = std::get_if<encoded_data>(&packet->what)) {
            decoder.push(*data);
            if (decoder.sets_ahead() > 2)
                decoder.skip_set();
            while (decoder.poll())
                ;
        }
    }
    return 0;
}
