/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/combining_receiver.h"

#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

combining_receiver::combining_receiver(
    size_t receivers,
    const rx_options& options,
    const std::vector<const family_reception*>& families)
{
    if (receivers < least_receivers || receivers > most_receivers)
        throw std::invalid_argument(
            "combining_receiver: receivers = " + std::to_string(receivers) +
            " is not in " + std::to_string(least_receivers) + " to " +
            std::to_string(most_receivers));
    while (d_receivers.size() < receivers)
        d_receivers.push_back(std::make_unique<soft_receiver>(options, families));
}

void combining_receiver::push(size_t receiver,
                              const std::complex<float>* samples,
                              size_t n,
                              const float* erased)
{
    d_receivers.at(receiver)->push(samples, n, erased);
}

bool combining_receiver::again() { return false; }

size_t combining_receiver::heard(size_t receiver) const
{
    return d_receivers.at(receiver)->heard().size();
}

std::vector<combined_message> combining_receiver::combine() const
{
    soft_combiner all;
    for (size_t k = 0; k < d_receivers.size(); ++k)
        for (const soft_transmission& t : d_receivers[k]->heard())
            all.add(k, t);
    return all.combine();
}

} // namespace gr::hf::kernel
