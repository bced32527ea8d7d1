/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"
#include "modem/decode/block_decoder.h"

#include <gnuradio/io_signature.h>
#include <hf/fec_decoder.h>
#include <hf/keys.h>

#include <optional>

namespace gr::hf {
namespace {

// The waveform as a decoder sees it after the deinterleaver.
kernel::description in_order(kernel::description d)
{
    d.interleave = kernel::no_interleaver(d.coded_bits);
    return d;
}

class fec_decoder_impl : public stage<fec_decoder>
{
public:
    explicit fec_decoder_impl(const kernel::description& d)
        : gr::tagged_stream_block("hf_fec_decoder",
                                  gr::io_signature::make(1, 1, sizeof(float)),
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  tags::packet_len),
          stage(d, d.coded_bits, d.input_bits), d_in_order(in_order(d))
    {
    }

protected:
    size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        if (p.first || !d_decoder)
            d_decoder.emplace(d_in_order);
        const auto* ratios = static_cast<const float*>(in[0]);
        d_soft.assign(ratios, ratios + d_d.coded_bits);
        const kernel::decoded_block b = d_decoder->decode(d_soft);
        tag(keys::quality(), pmt::from_double(b.quality));
        tag(keys::coded_ber(), pmt::from_double(b.coded_ber));
        std::copy(b.bits.begin(), b.bits.end(), static_cast<uint8_t*>(out[0]));
        return b.bits.size();
    }

private:
    const kernel::description d_in_order;
    std::optional<kernel::block_decoder> d_decoder; // of the transmission
    std::vector<float> d_soft;
};

} // namespace

fec_decoder::sptr fec_decoder::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<fec_decoder_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
