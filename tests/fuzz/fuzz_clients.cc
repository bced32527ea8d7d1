/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Clients of Annex F: formats and the assembler of RCOP.
#include "fuzz/input.h"
#include "s5066/clients/bftp.h"
#include "s5066/clients/cftp.h"
#include "s5066/clients/coss.h"
#include "s5066/clients/ether.h"
#include "s5066/clients/rcop.h"

using namespace gr::hf;
using namespace gr::hf::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    const octets all(p, p + n);
    const std::string text(p, p + n);
    if (const auto s = s5066::decode_rcop(p, n))
        FUZZ_CHECK(s5066::encode(*s) == all);
    s5066::decode_bftp_header(p, n);
    s5066::decode_bftp(all);
    s5066::decode_coss_dense(p, n);
    if (const auto f = s5066::decode_ether(p, n))
        FUZZ_CHECK(
            s5066::decode_ether(s5066::encode(*f).data(), s5066::encode(*f).size()));
    if (const auto s = s5066::decode_cftp(p, n)) {
        s5066::decode_cftp_header(*s);
        s5066::is_cftp_acknowledgement(*s);
    }
    s5066::decode_cftp_file(all);
    const auto safe = s5066::safe_file_name(text);
    FUZZ_CHECK(!safe.empty() && safe.find('/') == std::string::npos && safe != "." &&
               safe != ".." && safe.find('\0') == std::string::npos);

    s5066::rcop_assembler::config c;
    c.max_messages = 4;
    c.max_octets = 4096;
    c.forget_after = std::chrono::seconds(100);
    s5066::rcop_assembler assembler(c, s5066::bftp_message_octets);
    station_time now{ 1 };
    input in(p, n);
    while (!in.empty()) {
        const uint8_t what = in.u8();
        if (what % 8 == 0)
            now += some_time(in);
        const auto u_pdu = in.record();
        const auto m =
            assembler.u_pdu_in(now,
                               s5066::address::node(0x01000000u + what / 8 % 3),
                               6,
                               u_pdu.data(),
                               u_pdu.size());
        if (m) {
            s5066::decode_receipt(*m);
            s5066::decode_bftp(m->data);
        }
        FUZZ_CHECK(assembler.octets() <= c.max_octets && assembler.incomplete() <= 4);
    }
    return 0;
}
