/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/transfers/real_proxies.h"

namespace gr::hf::sim {

real_proxies::real_proxies(const std::string& mode_text,
                           const waveform_link& link,
                           uint64_t seed,
                           const changes& change)
    : d_pair({ node_of(1, mode_text, seed, change), node_of(2, mode_text, seed, change) },
             link,
             seed)
{
    for (int n = 1; n <= 2; ++n) {
        const auto k = static_cast<size_t>(n - 1);
        d_proxies[k].emplace(
            pep_of(n, static_cast<uint16_t>(n), mode_text, d_pair.node(k), change));
        d_pair.attach(k, *d_proxies[k]);
    }
}

bool real_proxies::run_for(double seconds, const std::function<bool()>& done)
{
    return d_pair.run_until(done, d_pair.now() + from_seconds(seconds));
}

} // namespace gr::hf::sim
