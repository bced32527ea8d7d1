/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <gnuradio/io_signature.h>
#include <hf/channel.h>

namespace gr::hf {
namespace {

class channel_impl : public channel
{
public:
    channel_impl(const std::string& spec,
                 uint64_t seed,
                 double signal_power,
                 double sample_rate)
        : gr::sync_block("hf_channel",
                         gr::io_signature::make(1, 1, sizeof(gr_complex)),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_channel(kernel::channel_spec::parse(spec), sample_rate, seed, signal_power)
    {
    }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        d_channel.process(static_cast<const gr_complex*>(in[0]),
                          static_cast<gr_complex*>(out[0]),
                          static_cast<size_t>(n));
        return n;
    }

private:
    kernel::channel d_channel;
};

} // namespace

channel::sptr channel::make(const std::string& spec,
                            uint64_t seed,
                            double signal_power,
                            double sample_rate)
{
    return gnuradio::make_block_sptr<channel_impl>(spec, seed, signal_power, sample_rate);
}

} // namespace gr::hf
