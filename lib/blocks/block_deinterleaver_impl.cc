/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"

#include <gnuradio/io_signature.h>
#include <hf/block_deinterleaver.h>

namespace gr::hf {
namespace {

class block_deinterleaver_impl : public stage<block_deinterleaver>
{
public:
    explicit block_deinterleaver_impl(const kernel::description& d)
        : gr::tagged_stream_block("hf_block_deinterleaver",
                                  gr::io_signature::make(1, 1, sizeof(float)),
                                  gr::io_signature::make(1, 1, sizeof(float)),
                                  tags::packet_len),
          stage(d, d.coded_bits, d.coded_bits)
    {
    }

protected:
    size_t
    run(const packet&, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        kernel::unfetch(d_d.interleave,
                        static_cast<const float*>(in[0]),
                        static_cast<float*>(out[0]));
        return d_d.coded_bits;
    }
};

} // namespace

block_deinterleaver::sptr block_deinterleaver::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<block_deinterleaver_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
