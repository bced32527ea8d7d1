/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"

#include <gnuradio/io_signature.h>
#include <hf/fec_encoder.h>

namespace gr::hf {
namespace {

class fec_encoder_impl : public stage<fec_encoder>
{
public:
    explicit fec_encoder_impl(const kernel::description& d)
        : gr::tagged_stream_block("hf_fec_encoder",
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  tags::packet_len),
          stage(d, d.input_bits, d.coded_bits), d_encoder(d.code)
    {
    }

protected:
    size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        if (p.first)
            d_encoder.reset();
        d_coded.clear();
        d_encoder.encode(static_cast<const uint8_t*>(in[0]), d_d.input_bits, d_coded);
        std::copy(d_coded.begin(), d_coded.end(), static_cast<uint8_t*>(out[0]));
        return d_coded.size();
    }

private:
    kernel::convolutional_encoder d_encoder;
    std::vector<uint8_t> d_coded;
};

} // namespace

fec_encoder::sptr fec_encoder::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<fec_encoder_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
