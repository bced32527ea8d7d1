/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Two nodes exchange data in the simulator. Their D_PDUs and primitives are written to
// two pcap files.
#include "s5066/node/pcap.h"
#include "sim/stations/traffic.h"

#include <cstdio>
#include <fstream>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;

namespace {

void write(std::ofstream& f, const std::vector<uint8_t>& v)
{
    f.write(reinterpret_cast<const char*>(v.data()),
            static_cast<std::streamsize>(v.size()));
}

node_config config(int n)
{
    node_config c;
    c.own = address("1." + std::to_string(n) + ".0.0");
    c.mode = "4539-2400S";
    c.tap = true;
    c.large_windows = false; // tshark knows Edition 3
    c.seed = static_cast<uint64_t>(n);
    c.send_ttd = true;
    c.utc_at_zero_s = 1700000000;
    return c;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s D_PDUS.pcap SIS.pcap\n", argv[0]);
        return 2;
    }
    std::ofstream d_file(argv[1], std::ios::binary), s_file(argv[2], std::ios::binary);
    pcap_writer d_pcap(pcap_writer::link_d_pdu, 1700000000);
    sis_capture s_pcap(1700000000);
    write(d_file, d_pcap.header());
    write(s_file, s_pcap.header());

    scheduler s;
    emulated_air air(s, 5);
    air_path p;
    p.ber = 5e-5;
    air.set_default_path(p);
    station a(s, air, config(1)), b(s, air, config(2));
    // D_PDUs sent by a are whole; those received by b have bit errors. So only sent ones
    // go in.
    for (station* st : { &a, &b }) {
        st->on_tap = [&](const tap_record& t) {
            if (t.sent) {
                write(d_file, d_pcap.d_pdu(t.time, t.octets));
            }
        };
    }
    std::map<std::pair<station*, client_id>, uint64_t> connections;
    const auto connection = [&](station& at, client_id c) {
        return connections.emplace(std::make_pair(&at, c), connections.size() + 1)
            .first->second;
    };
    const auto send = [&](station& at, client_id c, const s_primitive& q) {
        write(s_file, s_pcap.primitive(s.now(), connection(at, c), true, encode(q)));
        at.send(c, q);
    };
    const auto attach = [&](station& at, uint8_t sap, const delivery_mode& m, bool echo) {
        auto id = std::make_shared<client_id>();
        station* where = &at;
        *id = at.attach_octets([&, id, where, sap, echo](station_time now,
                                                         const auto& octets) {
            write(s_file, s_pcap.primitive(now, connection(*where, *id), false, octets));
            const auto q = decode_primitive(octets);
            const auto* i = q ? std::get_if<s_unidata_indication>(&*q) : nullptr;
            if (echo && i && i->mode == transmission_mode::arq) {
                s_unidata_request r;
                r.dst = i->src;
                r.dst_sap = sap;
                r.u_pdu = i->u_pdu;
                send(*where, *id, r);
            }
        });
        send(at, *id, s_bind_request{ sap, 3, m });
        return *id;
    };
    delivery_mode confirmed;
    confirmed.confirmation = delivery_confirmation::node;
    const client_id ca = attach(a, 9, confirmed, false);
    attach(b, 9, confirmed, true);

    for (uint32_t i = 0; i < 20; ++i) {
        s_unidata_request r;
        r.dst = b.address();
        r.dst_sap = 9;
        r.priority = static_cast<uint8_t>(i % 16);
        r.mode = confirmed;
        r.mode.confirmation =
            i % 4 == 3 ? delivery_confirmation::client : delivery_confirmation::node;
        r.ttl = 1800;
        r.u_pdu = bulk_source::u_pdu(i, 50 + 97 * i);
        send(a, ca, r);
    }
    // All answers have arrived by then: without ARQ a collision would lose the broadcast.
    s.run_until(std::chrono::minutes(4));
    s_unidata_request all;
    all.dst = address::broadcast();
    all.dst_sap = 9;
    all.mode.mode = transmission_mode::non_arq;
    all.mode.retransmissions = 1;
    all.u_pdu = bulk_source::u_pdu(99, 1500);
    send(a, ca, all);
    // To a SAP that is not bound, and to a node that does not exist.
    s_unidata_request nobody = all;
    nobody.dst = b.address();
    nobody.dst_sap = 3;
    nobody.mode = confirmed;
    nobody.mode.confirmation = delivery_confirmation::client;
    send(a, ca, nobody);
    s_unidata_request long_one = nobody;
    long_one.u_pdu.resize(2049);
    send(a, ca, long_one);
    send(a, ca, s_keep_alive{});
    s.run_until(std::chrono::minutes(6));
    // Restarts: while a link is up, the other side's data draw a WARNING.
    nobody.mode.confirmation = delivery_confirmation::node;
    b.restart(76);
    send(a, ca, nobody);
    s.run_until(s.now() + std::chrono::seconds(20));
    b.restart(77);
    send(a, ca, nobody);
    s.run_until(std::chrono::minutes(15));
    send(a, ca, s_unbind_request{});
    return 0;
}
