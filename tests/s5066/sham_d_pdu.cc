/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A node with a D_PDU type that test_sham_d_pdu.py adds: encodes, reads, answers, describes.
#include "s5066/scripted_peer.h"

#include <cstdio>

using namespace gr::hf::s5066;

int main()
{
    d_pdu d = scripted_peer::from_peer(d_pdu_type::sham);
    d.sham.number = 41;
    const auto octets = encode(d);
    const auto again = decode_d_pdu(octets);
    if (octets.size() != d.octets() || !again || again->sham.number != 41) {
        std::puts("not read as it was encoded");
        return 1;
    }
    scripted_peer p;
    p.receive({ d });
    const auto answers = of_type(p.transmission(), d_pdu_type::sham);
    if (answers.empty() || p.n.stats().warnings_sent > 0) {
        std::puts("no answer, or a warning");
        return 1;
    }
    d_pdu first = answers.front();
    first.eot = 1; // depends on the mode
    std::puts(describe(first).c_str());
    return 0;
}
