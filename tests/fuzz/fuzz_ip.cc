/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// IP client: datagrams from the kernel and from the air, with and without right checksums.
#include "fuzz/input.h"
#include "ip/client.h"
#include "ip/packet.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;

namespace {

// Version, length and checksum as a kernel would have them.
void repair(octets& o)
{
    if (o.size() < 20)
        return;
    if (o[0] & 1) {
        o[0] = 0x45;
        o[2] = static_cast<uint8_t>(o.size() >> 8);
        o[3] = static_cast<uint8_t>(o.size());
        o[10] = o[11] = 0;
        uint32_t sum = ip::checksum_add(0, o.data(), 20);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        o[10] = static_cast<uint8_t>(~sum >> 8);
        o[11] = static_cast<uint8_t>(~sum);
    } else if (o.size() >= 40) {
        o[0] = 0x60;
        o[4] = static_cast<uint8_t>((o.size() - 40) >> 8);
        o[5] = static_cast<uint8_t>(o.size() - 40);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    ip::read_packet(p, n);
    octets whole(p, p + n);
    repair(whole);
    if (ip::read_packet(whole.data(), whole.size())) {
        ip::clamp_mss(whole, 1000);
        FUZZ_CHECK(ip::read_packet(whole.data(), whole.size()));
    }

    input in(p, n);
    ip::client_config c;
    c.table = { { ip::prefix("10.0.0.0/8"), s5066::address::node(0x01000001u) },
                { ip::prefix("0.0.0.0/1"), s5066::address::node(0x01000002u) },
                { ip::prefix("::/1"), s5066::address::node(0x01000003u) } };
    c.own = { ip::address("10.66.0.1"), ip::address("fd00::1") };
    ip::client client(c);
    played_node node(client, 9);
    for (int steps = 0; !in.empty() && steps < 100; ++steps) {
        const uint8_t what = in.u8();
        if (what % 4 == 0) {
            auto o = in.record();
            if (what & 64)
                repair(o);
            client.on_packet(node.now, o.data(), o.size());
        } else if (what % 4 == 1) {
            s5066::s_unidata_indication u;
            u.src = s5066::address::node(0x01000000u + (what >> 4) % 4);
            u.src_sap = u.dst_sap = 9;
            u.u_pdu = in.record();
            repair(u.u_pdu);
            node.tell(u);
        } else {
            node.step(in);
        }
        node.drain();
        while (const auto o = client.poll_packet())
            FUZZ_CHECK(ip::read_packet(o->data(), o->size()));
    }
    return 0;
}
