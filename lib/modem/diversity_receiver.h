/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/burst_receiver.h"
#include "modem/track/diversity_link.h"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief One modem with two antennas or receivers: each stream has its own
 *         burst_receiver, and transmissions received by both are decoded together.
 *
 * Each receiver estimates its own channel and noise. So the soft bits of both are
 * log-likelihood ratios on one scale, and can be added. If the receiver iterates between
 * equaliser and decoder, every round decodes the sum and feeds the result back to both.
 * That is worth more than the sum of two receivers that went wrong separately. Uncoded
 * modes, 75 bit/s and effort 0 decode separately; then the receiver that started first
 * is used. See docs/receiver.md, "What each idea is worth".
 *
 * The events are those of one receiver. If one receiver has no signal or loses it, the
 * other continues alone.
 */
class diversity_receiver
{
public:
    static constexpr size_t sides = diversity_link::sides;

    //! Options and exceptions as in burst_receiver.
    explicit diversity_receiver(const rx_options& options = rx_options{});
    diversity_receiver(const rx_options& options,
                       const std::vector<const family_reception*>& families);

    /*! \brief Take \p n samples of each antenna, received at the same time.
     *  \param a_erased, b_erased see burst_receiver::push()
     */
    void push(const std::complex<float>* a,
              const std::complex<float>* b,
              size_t n,
              const float* a_erased = nullptr,
              const float* b_erased = nullptr);

    //! The next event, in order; empty if there is none. Drain after each push().
    std::optional<rx_event> poll();

    //! See burst_receiver::keep_details(); the ratios are the decoded sum of both.
    void keep_details(bool wanted);

    //! Blocks decoded from both antennas, and all blocks for which that is possible.
    uint64_t joint_blocks() const { return d_link->joint(); }
    uint64_t blocks() const { return d_link->blocks(); }

    const symbol_grid& grid() const { return d_receivers[0]->grid(); }
    //! Counters of one receiver.
    const rx_counters& counters(size_t side) const
    {
        return d_receivers[side]->counters();
    }

private:
    void take(size_t side, rx_event&& e);

    std::shared_ptr<diversity_link> d_link;
    std::array<std::unique_ptr<burst_receiver>, sides> d_receivers;
    std::deque<rx_event> d_events;

    // The current reception, as reported.
    std::array<bool, sides> d_member{}; // receives it
    // Octets held by a receiver that lost the signal, in case of a marker.
    std::array<std::optional<rx_event>, sides> d_rest;
    size_t d_members = 0;
    mode d_mode;
    int64_t d_octets = 0; // of the transmission
    int64_t d_next = 0;   // octets of earlier blocks were already reported
};

} // namespace gr::hf::kernel
