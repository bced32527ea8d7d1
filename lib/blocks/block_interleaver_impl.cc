/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"

#include <gnuradio/io_signature.h>
#include <hf/block_interleaver.h>

namespace gr::hf {
namespace {

class block_interleaver_impl : public stage<block_interleaver>
{
public:
    explicit block_interleaver_impl(const kernel::description& d)
        : gr::tagged_stream_block("hf_block_interleaver",
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  gr::io_signature::make(1, 1, sizeof(uint8_t)),
                                  tags::packet_len),
          stage(d, d.coded_bits, d.coded_bits)
    {
    }

protected:
    size_t
    run(const packet&, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        kernel::fetch(d_d.interleave,
                      static_cast<const uint8_t*>(in[0]),
                      static_cast<uint8_t*>(out[0]));
        return d_d.coded_bits;
    }
};

} // namespace

block_interleaver::sptr block_interleaver::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<block_interleaver_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
