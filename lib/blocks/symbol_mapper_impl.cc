/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"
#include "waveform/block_encoder.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/symbol_mapper.h>

namespace gr::hf {
namespace {

class symbol_mapper_impl : public stage<symbol_mapper>
{
public:
    explicit symbol_mapper_impl(const kernel::description& d)
        : gr::tagged_stream_block(
              "hf_symbol_mapper",
              gr::io_signature::make(1, 1, sizeof(uint8_t)),
              gr::io_signature::make2(1, 2, sizeof(gr_complex), sizeof(uint8_t)),
              tags::packet_len),
          stage(d, d.coded_bits, d.frames_per_block * d.unknown)
    {
    }

protected:
    size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        kernel::map_block(d_d, static_cast<const uint8_t*>(in[0]), p.number, d_numbers);
        auto* points = static_cast<gr_complex*>(out[0]);
        for (size_t i = 0; i < d_numbers.size(); ++i)
            points[i] = d_d.alphabet.points[d_numbers[i]];
        if (out.size() > 1)
            std::copy(d_numbers.begin(), d_numbers.end(), static_cast<uint8_t*>(out[1]));
        return d_numbers.size();
    }

private:
    std::vector<uint8_t> d_numbers;
};

} // namespace

symbol_mapper::sptr symbol_mapper::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<symbol_mapper_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
