/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/combining_receiver.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

namespace {

/* Error of a time that another message tells, s. Two clocks 100 ppm apart drift that far
 * in 15 minutes. */
constexpr double known_within_s = 0.1;

} // namespace

combining_receiver::combining_receiver(
    size_t receivers,
    const rx_options& options,
    const std::vector<const family_reception*>& families)
    : d_options(options)
{
    if (receivers < min_receivers || receivers > max_receivers)
        throw std::invalid_argument(
            "combining_receiver: receivers = " + std::to_string(receivers) +
            " is not in " + std::to_string(min_receivers) + " to " +
            std::to_string(max_receivers));
    while (d_receivers.size() < receivers)
        d_receivers.push_back(std::make_unique<soft_receiver>(options, families));
}

void combining_receiver::push(size_t receiver,
                              const std::complex<float>* samples,
                              size_t n,
                              const float* erased)
{
    soft_receiver& usual = *d_receivers.at(receiver);
    if (!d_again)
        usual.push(samples, n, erased);
    else
        for (const auto& cued : d_cued[receiver])
            cued->push(samples, n, erased);
}

/* Time by which the data of \p m begin later in the recording of \p receiver than in that
 * of the message's first part, as other messages that both have tell. */
std::optional<double>
combining_receiver::delay(const std::vector<combined_message>& messages,
                          size_t receiver,
                          const combined_message& m) const
{
    const combined_message::part& known = m.parts.front();
    std::optional<double> found;
    double nearest = 0;
    for (const combined_message& other : messages) {
        const auto part_of = [&other](size_t k) {
            return std::find_if(other.parts.begin(),
                                other.parts.end(),
                                [k](const auto& p) { return p.receiver == k; });
        };
        const auto a = part_of(known.receiver), b = part_of(receiver);
        if (a == other.parts.end() || b == other.parts.end())
            continue;
        const double apart = std::abs(a->begin_s - known.begin_s);
        if (!found || apart < nearest) {
            found = b->begin_s - a->begin_s;
            nearest = apart;
        }
    }
    return found;
}

bool combining_receiver::again()
{
    if (d_again)
        return false;
    const auto messages = combine();
    d_cued.resize(d_receivers.size());
    for (const combined_message& m : messages) {
        if (m.joined)
            continue; // nobody knows where its preamble is
        for (size_t k = 0; k < d_receivers.size(); ++k) {
            const bool has_start =
                std::any_of(m.parts.begin(), m.parts.end(), [k](const auto& p) {
                    return p.receiver == k && !p.joined;
                });
            if (has_start)
                continue;
            const auto later = delay(messages, k, m);
            const double begin_s = m.parts.front().begin_s + later.value_or(0);
            const double within_s =
                later ? known_within_s : soft_combiner::options().max_delay_s;
            if (begin_s + within_s <= 0)
                continue; // the recording starts later
            d_cued[k].push_back(std::make_unique<cued_receiver>(
                cued_transmission{ m.m, m.blocks, begin_s, within_s }, d_options));
            d_again = true;
        }
    }
    return d_again;
}

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
    for (size_t k = 0; k < d_cued.size(); ++k)
        for (const auto& cued : d_cued[k])
            for (soft_transmission& t : cued->heard())
                all.add(k, std::move(t), true);
    return all.combine();
}

} // namespace gr::hf::kernel
