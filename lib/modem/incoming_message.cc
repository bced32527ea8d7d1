/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/incoming_message.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace gr::hf::kernel {

namespace {

int8_t rounded(float ratio)
{
    constexpr float most = 127;
    const float units = std::round(ratio / rx_octets::ratio_unit);
    return std::isnan(units) ? int8_t{ 0 }
                             : static_cast<int8_t>(std::clamp(units, -most, most));
}

} // namespace

// The block's bits have numbers of their own: those of the decoder arrive later.
void incoming_message::keep_ratios(const std::vector<float>& pairs)
{
    if (d_ratios.empty())
        d_ratios_from = d_block * d_waveform->input_bits + d_repeated_bits;
    std::transform(pairs.begin(), pairs.end(), std::back_inserter(d_ratios), rounded);
}

void incoming_message::give_ratios(rx_octets& e)
{
    if (!e.octets.empty() && !d_ratios.empty()) {
        e.ratios = std::exchange(d_ratios, {});
        e.ratios_from = d_ratios_from - 8 * d_octets;
    }
    d_octets += e.octets.size();
}

std::optional<uint64_t>
incoming_message::take(const received_block& b, bool sound, rx_octets& e)
{
    e.snr_db = d_snr = b.channel.snr_db;
    e.quality = b.decoded.quality;
    e.doppler_hz = b.channel.doppler_hz;
    const description& reading = b.reading != nullptr ? *b.reading : *d_waveform;
    e.reading = d_reading = reading.m.reading;
    d_parser.set_most_significant_first(reading.most_significant_first);
    keep_ratios(b.decoded.pairs);
    const auto marker = d_parser.push(b.decoded.bits, e.octets, sound);
    give_ratios(e);
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
    d_octets += e.octets.size();
    d_ratios.clear();
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
