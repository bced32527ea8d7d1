/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <gnuradio/gr_complex.h>
#include <gnuradio/io_signature.h>
#include <hf/block_deinterleaver.h>
#include <hf/equaliser.h>
#include <hf/fec_decoder.h>
#include <hf/message_parser.h>
#include <hf/preamble_finder.h>
#include <hf/rx_chain.h>
#include <hf/soft_demapper.h>

namespace gr::hf {
namespace {

class rx_chain_impl : public rx_chain
{
public:
    explicit rx_chain_impl(const std::string& mode)
        : gr::hier_block2("hf_rx_chain",
                          gr::io_signature::make(1, 1, sizeof(gr_complex)),
                          gr::io_signature::make(0, 0, 0))
    {
        const auto finder = preamble_finder::make(mode);
        const auto follower = equaliser::make(mode);
        const auto demapper = soft_demapper::make(mode);
        const auto deinterleaver = block_deinterleaver::make(mode);
        const auto decoder = fec_decoder::make(mode);
        const auto parser = message_parser::make(mode);
        message_port_register_hier_out(pmt::mp("pdus"));
        connect(self(), 0, finder, 0);
        connect(finder, 0, follower, 0);
        connect(follower, 0, demapper, 0);
        connect(follower, 1, demapper, 1);
        connect(demapper, 0, deinterleaver, 0);
        connect(deinterleaver, 0, decoder, 0);
        connect(decoder, 0, parser, 0);
        // Not self(): message connections keep their blocks, so that this one would keep
        // itself, and with it its buffers, for the life of the program.
        const gr::basic_block_sptr me(gr::basic_block_sptr(), this);
        msg_connect(parser, pmt::mp("pdus"), me, pmt::mp("pdus"));
    }
};

} // namespace

rx_chain::sptr rx_chain::make(const std::string& mode)
{
    return gnuradio::make_block_sptr<rx_chain_impl>(mode);
}

} // namespace gr::hf
