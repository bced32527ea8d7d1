/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"
#include "modem/detect/soft_symbols.h"
#include "waveform/block_encoder.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/soft_demapper.h>

namespace gr::hf {
namespace {

// Items of a block: one for each label, or two bits of a spread mode.
size_t values_of(const kernel::description& d)
{
    return d.spread() ? d.coded_bits / 2 : d.labels_per_block();
}

class soft_demapper_impl : public stage<soft_demapper>
{
public:
    explicit soft_demapper_impl(const kernel::description& d)
        : gr::tagged_stream_block(
              "hf_soft_demapper",
              gr::io_signature::make2(2, 2, sizeof(gr_complex), sizeof(float)),
              gr::io_signature::make(1, 1, sizeof(float)),
              tags::packet_len),
          stage(d, values_of(d), d.coded_bits), d_symbols(d.alphabet)
    {
    }

protected:
    size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        const auto* symbol = static_cast<const gr_complex*>(in[0]);
        const auto* error = static_cast<const float*>(in[1]);
        auto* ratio = static_cast<float*>(out[0]);
        const size_t values = values_of(d_d);
        if (d_d.spread()) { // the equaliser has compared the words
            for (size_t i = 0; i < values; ++i, ratio += 2) {
                ratio[0] = symbol[i].real();
                ratio[1] = symbol[i].imag();
            }
            return d_d.coded_bits;
        }
        const std::vector<uint8_t> scrambling = kernel::scrambling_of(d_d, p.number);
        for (size_t i = 0; i < values; ++i, ratio += d_d.alphabet.bits)
            d_symbols.soft_bits(scrambling[i], { symbol[i], error[i] }, ratio);
        return d_d.coded_bits;
    }

private:
    kernel::soft_symbols d_symbols;
};

} // namespace

soft_demapper::sptr soft_demapper::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<soft_demapper_impl>(
        kernel::describe(mode::parse(mode)));
}

} // namespace gr::hf
