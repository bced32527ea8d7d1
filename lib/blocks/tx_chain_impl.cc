/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/block_interleaver.h>
#include <hf/fec_encoder.h>
#include <hf/frame_builder.h>
#include <hf/message_framer.h>
#include <hf/pulse_shaper.h>
#include <hf/symbol_mapper.h>
#include <hf/tx_chain.h>

namespace gr::hf {
namespace {

class tx_chain_impl : public tx_chain
{
public:
    tx_chain_impl(const std::string& mode,
                  int agc_blocks,
                  double gap_ms,
                  bool continuous,
                  double level)
        : gr::hier_block2("hf_tx_chain",
                          gr::io_signature::make(0, 0, 0),
                          gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_shaper(pulse_shaper::make(mode, gap_ms, continuous, level))
    {
        const auto framer = message_framer::make(mode);
        const auto encoder = fec_encoder::make(mode);
        const auto interleaver = block_interleaver::make(mode);
        const auto mapper = symbol_mapper::make(mode);
        const auto frames = frame_builder::make(mode, agc_blocks);
        message_port_register_hier_in(pmt::mp("pdus"));
        // Not self(): message connections keep their blocks, so that this one would keep
        // itself, and with it its buffers, for the life of the program.
        const gr::basic_block_sptr me(gr::basic_block_sptr(), this);
        msg_connect(me, pmt::mp("pdus"), framer, pmt::mp("pdus"));
        connect(framer, 0, encoder, 0);
        connect(encoder, 0, interleaver, 0);
        connect(interleaver, 0, mapper, 0);
        connect(mapper, 0, frames, 0);
        connect(frames, 0, d_shaper, 0);
        connect(d_shaper, 0, self(), 0);
    }

    void set_level(double level) override { d_shaper->set_level(level); }

private:
    const pulse_shaper::sptr d_shaper;
};

} // namespace

tx_chain::sptr tx_chain::make(const std::string& mode,
                              int agc_blocks,
                              double gap_ms,
                              bool continuous,
                              double level)
{
    return gnuradio::make_block_sptr<tx_chain_impl>(
        mode, agc_blocks, gap_ms, continuous, level);
}

} // namespace gr::hf
