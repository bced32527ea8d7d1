/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/soft_bits.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gr::hf::kernel {

//! A message decoded from the soft bits of one or more receivers.
struct combined_message {
    mode m;
    bool joined = false; //!< every receiver missed its start
    bool complete =
        false; //!< its end-of-message marker was found, and no block is missing
    std::vector<uint8_t> octets; //!< without those of missing blocks
    size_t blocks = 0;           //!< decoded or missing
    double coded_ber = 0;        //!< mean share of coded bits that the decoder changed
    //! What a receiver heard of it.
    struct part {
        size_t receiver = 0;
        //! First symbol of the message's data, in the receiver's time. Negative if the
        //! receiver started later.
        double begin_s = 0;
        double freq_hz = 0; //!< carrier offset
        double snr_db = 0;  //!< mean power over its blocks
        //! Means over its blocks, see soft_block.
        double doppler_hz = 0, delay_spread_ms = 0;
        size_t blocks = 0;   //!< that it contributed
        bool joined = false; //!< it missed the start
    };
    //! One for each receiver that took part, the one with the most certain soft bits first.
    std::vector<part> parts;
};

/*! \brief Combines receivers at different places that heard the same transmissions: adds
 *         up their soft bits block by block, and decodes the sums.
 *
 * Receivers may start at different times and have clocks of their own. Two receptions are of
 * one transmission if mode and time agree, and if their soft bits are alike. Soft bits
 * alone decide by how many blocks one reception is shifted against the other. So the parts
 * of a transmission that a receiver lost and found again come together too. Where only one
 * receiver heard it, its own numbers of blocks count.
 *
 * The sum of the ratios is what an ideal receiver of independent noises would decode
 * (Brennan 1959, "Linear diversity combining techniques"). Each receiver iterates between
 * its own equaliser and decoder before.
 */
class soft_combiner
{
public:
    struct options {
        double max_delay_s = 3;    //!< between the starts of two receivers' recordings
        double max_clock = 100e-6; //!< difference of two clocks, relative
        /*! \brief Standard deviations by which the soft bits of two receptions agree.
         *  \details Chance gives 1; 6 once in 1e9.
         */
        double min_alike = 6;
    };

    soft_combiner() = default;
    explicit soft_combiner(const options& o) : d_o(o) {}

    /*! \brief Add a reception of receiver number \p receiver.
     *  \param cued true: found where others heard it, so it counts only together with
     *         them
     */
    void add(size_t receiver, soft_transmission t, bool cued = false);

    /*! \brief Combine and decode everything added, in order of time.
     *  \details An incomplete reception of one receiver is left out if others had a
     *  transmission in the same mode at that time: it is this transmission, followed
     *  wrongly.
     */
    std::vector<combined_message> combine() const;

private:
    struct reception {
        size_t receiver;
        soft_transmission what;
        double certainty; // sum of the ratios' magnitudes
        bool cued;
        size_t continues; // index of the reception that was found again, or of this one
    };
    struct placed {
        const reception* heard;
        int64_t shift; // number of its block 0 in the group
    };
    //! Receptions of one transmission.
    struct group {
        std::vector<placed> members;
        std::map<int64_t, std::vector<float>> sums;       // by number of the block
        std::set<std::pair<size_t, int64_t>> contributed; // receiver, number
    };

    std::optional<int64_t> shift_in(const group& g, const reception& r) const;
    std::optional<int64_t> shift_of(const group& g, const group& other) const;
    std::vector<group> groups() const;
    void unite(std::vector<group>& groups) const;
    void settle_found_again(std::vector<group>& groups) const;
    void add_cued(std::vector<group>& groups) const;
    bool follows_wrongly(const combined_message& m,
                         const std::vector<combined_message>& all) const;
    static void
    add_to(group& g, const reception& r, int64_t shift, int64_t last = INT64_MAX);
    static combined_message decode(const group& g);
    static std::vector<combined_message::part> parts_of(const group& g, size_t blocks);

    options d_o;
    std::vector<reception> d_receptions;
};

} // namespace gr::hf::kernel
