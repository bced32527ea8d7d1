/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// D_PDUs: the deframer with the octets as they are, and with CRCs that are right.
#include "fuzz/input.h"
#include "s5066/pdu/crc.h"
#include "s5066/pdu/deframer.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;

namespace {

// Puts in what a sender that means harm would put in, too.
void repair(octets& o, bool large)
{
    if (o.size() < 6)
        return;
    o[0] = 0x90;
    o[1] = 0xeb;
    const size_t header = 2u + (o[5] & 0x1f) + (o[5] >> 5);
    if (header < 6 || o.size() < header)
        return;
    const uint16_t crc = s5066::crc16(o.data() + 2, header - 4);
    o[header - 2] = static_cast<uint8_t>(crc);
    o[header - 1] = static_cast<uint8_t>(crc >> 8);
    size_t need = 0;
    const auto extent = s5066::check_header(o.data(), o.size(), need, large);
    if (!extent || extent->total <= extent->header + 4)
        return;
    o.resize(extent->total);
    const size_t segment = extent->total - 4;
    const uint32_t sum = s5066::crc32(o.data() + header, segment - header);
    for (size_t k = 0; k < 4; ++k)
        o[segment + k] = static_cast<uint8_t>(sum >> 8 * k);
}

void look(s5066::d_pdu_deframer& deframer, bool at_end, bool large = false)
{
    while (const auto found = at_end ? deframer.next_at_end() : deframer.next()) {
        s5066::describe(found->pdu);
        const auto again = s5066::encode(found->pdu);
        if (found->pdu.segment_ok && !again.empty()) {
            const auto same = [&](bool as_large) {
                const auto back =
                    s5066::decode_d_pdu(again.data(), again.size(), as_large);
                return back && back->segment == found->pdu.segment &&
                       back->ack.selective == found->pdu.ack.selective &&
                       back->ack.from == found->pdu.ack.from;
            };
            // Types 9 to 12 that cannot be those of large windows are read as unknown types.
            FUZZ_CHECK(same(large) || (large && same(false)));
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    s5066::d_pdu_deframer raw;
    raw.push(p, n);
    look(raw, false);
    look(raw, true);

    for (const bool large : { false, true }) {
        s5066::d_pdu_deframer repaired;
        repaired.set_large([large](s5066::address, s5066::address) { return large; });
        input in(p, n);
        while (!in.empty()) {
            octets o = in.record();
            repair(o, large);
            repaired.push(o);
            look(repaired, false, large);
        }
        look(repaired, true, large);
    }
    return 0;
}
