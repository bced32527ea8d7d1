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

/*! \brief Two antennas, or receivers, and one modem: each stream has a burst_receiver of its own,
 *         and what both hear is decoded together.
 *
 * Each estimates its own channel and noise, so the soft bits of both are on one scale, that of
 * log-likelihood ratios, and their sum is what is known of a bit. Where the receiver iterates
 * between equaliser and decoder, the sum is decoded in every round, and what comes out goes back
 * to both: the sum of two that went astray by themselves would be worth less. Modes without
 * a code, those of 75 bit/s, and effort 0 decode by themselves; then the one that began first is
 * listened to.
 *
 * The events are those of one receiver. If one of the two hears nothing, or loses the signal,
 * the other goes on alone.
 */
class diversity_receiver
{
public:
    static constexpr size_t sides = diversity_link::sides;

    //! As burst_receiver, whose exceptions it throws.
    explicit diversity_receiver(const rx_options& options = rx_options{});
    diversity_receiver(const rx_options& options,
                       const std::vector<const family_reception*>& families);

    /*! \brief Take \p n samples of each antenna, of the same time.
     *  \param a_erased, b_erased see burst_receiver::push()
     */
    void push(const std::complex<float>* a,
              const std::complex<float>* b,
              size_t n,
              const float* a_erased = nullptr,
              const float* b_erased = nullptr);

    //! The next event, in order; empty when there is none. Drain after each push().
    std::optional<rx_event> poll();

    //! See burst_receiver::keep_details(); ratios are those that were decoded, of both.
    void keep_details(bool wanted);

    //! Blocks that were decoded from both antennas, and of those that can be, all.
    uint64_t joint_blocks() const { return d_link->joint(); }
    uint64_t blocks() const { return d_link->blocks(); }

    const symbol_grid& grid() const { return d_receivers[0]->grid(); }
    //! Of one of the two.
    const rx_counters& counters(size_t side) const
    {
        return d_receivers[side]->counters();
    }

private:
    void take(size_t side, rx_event&& e);

    std::shared_ptr<diversity_link> d_link;
    std::array<std::unique_ptr<burst_receiver>, sides> d_receivers;
    std::deque<rx_event> d_events;

    // The reception under way, as it is told.
    std::array<bool, sides> d_member{}; // hears it
    // What one that has lost it kept back in case a marker would follow.
    std::array<std::optional<rx_event>, sides> d_rest;
    size_t d_members = 0;
    mode d_mode;
    int64_t d_next = 0; // octets of blocks that begin earlier were told before
};

} // namespace gr::hf::kernel
