/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// S_PDUs and C_PDUs: read, written, read again.
#include "fuzz/input.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/s_pdu.h"

using namespace gr::hf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    if (const auto c = s5066::decode_c_pdu(p, n)) {
        const auto again = s5066::encode(*c);
        if (!again.empty())
            FUZZ_CHECK(s5066::decode_c_pdu(again.data(), again.size()));
    }
    if (const auto s = s5066::decode_s_pdu(p, n)) {
        const auto again = s5066::encode(*s);
        if (!again.empty())
            FUZZ_CHECK(s5066::decode_s_pdu(again.data(), again.size()));
    }
    return 0;
}
