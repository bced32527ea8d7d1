/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/incoming_message.h"

#include <algorithm>

namespace gr::hf::kernel {

std::optional<uint64_t>
incoming_message::take(const received_block& b, bool sound, rx_octets& e)
{
    e.snr_db = d_snr = b.channel.snr_db;
    e.quality = b.decoded.quality;
    e.doppler_hz = b.channel.doppler_hz;
    const description& reading = b.reading != nullptr ? *b.reading : *d_waveform;
    e.reading = d_reading = reading.m.reading;
    d_parser.set_most_significant_first(reading.most_significant_first);
    const auto marker = d_parser.push(b.decoded.bits, e.octets, sound);
    d_position += b.decoded.bits.size();
    if (sound)
        d_suspected_end = static_cast<int64_t>(d_waveform->block_end(d_block));
    ++d_block;
    return marker;
}

rx_octets incoming_message::substitute() const
{
    rx_octets e;
    e.snr_db = d_snr;
    e.quality = 0;
    e.reading = d_reading;
    return e;
}

rx_octets incoming_message::go_on_at(uint64_t block, uint64_t dropped)
{
    const uint64_t bit = block * d_waveform->input_bits;
    const uint64_t given = d_position - dropped;
    const uint64_t missing = given <= bit ? bit - given : (8 - (given - bit) % 8) % 8;
    rx_octets e = substitute();
    d_parser.push(std::vector<uint8_t>(missing, 1), e.octets, false);
    d_repeated_bits += d_position + missing - bit;
    d_position = bit;
    d_block = block;
    return e;
}

int64_t incoming_message::end_of(uint64_t marker) const
{
    const description& d = *d_waveform;
    const uint64_t bits = marker - d_repeated_bits + d.flush_bits;
    const uint64_t last = std::max<uint64_t>(1, (bits + d.input_bits - 1) / d.input_bits);
    return static_cast<int64_t>(d.block_end(last - 1));
}

} // namespace gr::hf::kernel
