/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// S_primitives: the deframer, the parser, and that parsed primitives can be written and
// read again.
#include "fuzz/input.h"

using namespace gr::hf;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    s5066::sis_deframer deframer;
    // Without a first primitive it takes nothing.
    deframer.push(s5066::encode(s5066::s_keep_alive{}));
    FUZZ_CHECK(deframer.next());
    for (size_t at = 0; at < n; at += 97) {
        deframer.push(p + at, std::min<size_t>(97, n - at));
        while (const auto one = deframer.next()) {
            const auto primitive = s5066::decode_primitive(*one);
            if (!primitive)
                continue;
            const auto again = s5066::encode(*primitive);
            if (!again.empty())
                FUZZ_CHECK(s5066::decode_primitive(again));
        }
        FUZZ_CHECK(deframer.buffered() <= 65540);
    }
    s5066::decode_primitive(p, n);
    return 0;
}
