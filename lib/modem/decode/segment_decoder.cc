/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/segment_decoder.h"

#include "modem/decode/viterbi.h"

#include <algorithm>

namespace gr::hf::kernel {

std::vector<uint8_t>
decode_after_zeros(const code_plan& code, std::vector<float> pairs, size_t bits)
{
    viterbi_decoder decoder(code);
    // Unknown pairs push the last bits out of the decoder.
    const size_t steps = std::max(pairs.size() / 2, bits + decoder.decision_delay());
    pairs.resize(2 * steps, 0);
    std::vector<uint8_t> decoded;
    decoder.decode_running(pairs.data(), steps, decoded);
    decoded.resize(bits);
    return decoded;
}

} // namespace gr::hf::kernel
