/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <gnuradio/io_signature.h>
#include <hf/channel.h>

#include <functional>
#include <mutex>
#include <utility>

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
          d_make([=](const std::string& words) {
              return kernel::channel(
                  kernel::channel_spec::parse(words), sample_rate, seed, signal_power);
          }),
          d_channel(d_make(spec))
    {
    }

    void set_spec(const std::string& spec) override
    {
        auto next = d_make(spec);
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_channel = std::move(next);
    }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star& out) override
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_channel.process(static_cast<const gr_complex*>(in[0]),
                          static_cast<gr_complex*>(out[0]),
                          static_cast<size_t>(n));
        return n;
    }

private:
    const std::function<kernel::channel(const std::string&)> d_make;
    std::mutex d_mutex;
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
