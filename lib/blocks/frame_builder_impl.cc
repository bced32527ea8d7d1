/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/stage.h"
#include "waveform/frame_builder.h"

#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/frame_builder.h>

namespace gr::hf {
namespace {

class frame_builder_impl : public stage<frame_builder>
{
public:
    frame_builder_impl(const kernel::description& d, const kernel::frame_builder& frames)
        : gr::tagged_stream_block("hf_frame_builder",
                                  gr::io_signature::make(1, 1, sizeof(gr_complex)),
                                  gr::io_signature::make(1, 1, sizeof(gr_complex)),
                                  tags::packet_len),
          stage(d,
                d.frames_per_block * d.unknown,
                frames.head() + d.reinserted + d.block_symbols()),
          d_frames(frames)
    {
    }

protected:
    size_t
    run(const packet& p, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        const auto* data = static_cast<const gr_complex*>(in[0]);
        auto* const begin = static_cast<gr_complex*>(out[0]);
        auto* symbol = begin;
        if (p.number == 0)
            for (uint64_t i = 0; i < d_frames.head(); ++i)
                *symbol++ = d_frames.head_symbol(i).value;
        // A reinserted preamble lies between the end of the previous block and this one.
        const uint64_t from = p.number == 0 ? 0 : d_d.block_end(p.number - 1);
        for (uint64_t i = from; i < d_d.block_end(p.number); ++i) {
            const kernel::tx_symbol s = d_frames.body_symbol(i);
            *symbol++ = kernel::is_known(s.kind) ? s.value : *data++;
        }
        return static_cast<size_t>(symbol - begin);
    }

private:
    kernel::frame_builder d_frames;
};

} // namespace

frame_builder::sptr frame_builder::make(const std::string& mode, int agc_blocks)
{
    const auto m = mode::parse(mode); // GCC 14 takes a temporary for what is returned
    const kernel::description& d = kernel::describe(m);
    kernel::tx_options options;
    options.agc_blocks = agc_blocks;
    return gnuradio::make_block_sptr<frame_builder_impl>(
        d, kernel::frame_builder(d, options));
}

} // namespace gr::hf
