/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate_policy.h"

#include <map>
#include <string>

namespace gr::hf::s5066 {

//! Between what a rate policy may choose: rates, and interleavers short and long.
struct rate_range {
    mode floor;
    mode ceiling;
    bool long_allowed = true;

    /*! \brief Read "auto" (75 to 9600 bit/s), "auto:600..9600" or, with the short interleaver
     *         only, "auto:600S..9600S".
     *  \return empty if \p text does not begin with "auto"
     *  \throws std::invalid_argument that names \p text and what is allowed
     */
    static std::optional<rate_range> parse(const std::string& text);
    //! The modes of the range that can be chosen and advised, by rate, short before long.
    std::vector<mode> modes() const;
};

/*! \brief EOW "data rate change", advisory, for the advising node's receiver only (C.5).
 *  \return empty for modes that the EOW has no code for
 */
std::optional<uint16_t> encode_rate_advice(const mode& m);
//! The mode that an advisory asks for; empty if it is none or no mode of ours.
std::optional<mode> decode_rate_advice(uint16_t eow);

/*! \brief What is known about the channel from one station to another, and which mode is best.
 *
 * The SNR of the blocks is described by mean and deviation in dB. What the modes need is a
 * table; its errors, and those of the description, are learned as one offset per interleaver
 * from the share of octets that arrive. High rates, with probes every 0.12 s, may fail at any
 * SNR where fading is fast: they have one more, which grows as long as they fail.
 */
class rate_estimator
{
public:
    //! Blocks of a transmission in mode \p m.
    void on_blocks(const mode& m, const std::vector<double>& snr_db);
    //! Of what was sent in mode \p m the share \p good arrived, of \p blocks blocks.
    void on_share(const mode& m, double good, double blocks);
    //! Nothing at all arrived of a transmission in mode \p m.
    void on_nothing(const mode& m);
    //! Blocks of other transmissions the other way: takes over mean and deviation.
    void copy_channel(const rate_estimator& other);

    bool known() const { return d_known; }
    double mean_db() const { return d_mean_db; }
    //! The level changes from block to block.
    bool fading() const { return d_short_deviation_db > 1.5; }
    //! Probability that a block in mode \p m arrives.
    double block_success(const mode& m) const;
    /*! \brief Of the modes, that with the most goodput for much data.
     *  \param modes not empty
     *  \param present the one in use, if any: other rates must promise somewhat more
     */
    mode best(const std::vector<mode>& modes,
              const std::optional<mode>& present = std::nullopt) const;
    //! Of the modes, the one that gets \p octets across soonest on average.
    mode soonest(const std::vector<mode>& modes, size_t octets, double failure_s) const;

private:
    double deviation_db(const mode& m) const;
    double& offset(const mode& m)
    {
        return d_offset_db[m.il == interleaver::long_ ? 1 : 0];
    }

    bool d_known = false;
    double d_mean_db = 0;
    double d_short_deviation_db = 3; // of blocks of about a second
    double d_offset_db[2] = { 0, 0 };
    double d_high_rates_db = 0; // more for these: fading may be too fast for their probes
};

/*! \brief Rate adaptation for autobaud waveforms.
 *
 * Each station tells its peers, by the advisory EOW in any D_PDU, in which mode it would
 * receive best; the sender follows within its own range. It falls at once when the peer does
 * not answer, and asks with a short transmission. Peers that send no advisories are judged by
 * the SNR of what is heard from them and by their acknowledgements.
 *
 * Use of the EOW for this is our choice; the standard defines it for the rate change procedure.
 */
class adaptive_rate_policy : public rate_policy
{
public:
    explicit adaptive_rate_policy(const rate_range& range);

    mode choose(sim_time now, const tx_context& c) override;
    double longest_s(const tx_context& c) const override;
    void on_reception(sim_time now, address peer, const reception& r) override;
    void on_frames(sim_time now, address peer, unsigned sent, unsigned lost) override;
    void on_silence(sim_time now, address peer) override;
    void on_advice(sim_time now, address peer, uint16_t eow) override;
    std::optional<uint16_t> advice(address peer) const override;

private:
    struct station {
        rate_estimator in;           // from there to here
        rate_estimator out;          // from here to there, without advisories
        std::optional<mode> advised; // by its last advisory
        unsigned advised_again = 0;  // how often in a row it was the same
        bool advises = false;        // it has ever sent one
        mode last;                   // data were sent in it
        bool sent = false;
        int heard_bps = 0;            // rate of the last reception
        bool high_rates_fail = false; // what was sent in one seems to be lost
        unsigned unheard = 0;         // transmissions in one without any answer, in a row
        unsigned patience = 0;      // transmissions in others until they are tried again
        bool answered_high = false; // in one, since the last reception
        std::optional<mode> wanted; // our advice to it
    };

    mode data_mode(const station& s, const tx_context& c) const;
    mode message_mode(const station& s, const tx_context& c, const mode& bulk) const;
    std::vector<mode> robust_modes(const station& s) const;
    mode below(const mode& m, double db) const;
    station& of(address peer);

    rate_range d_range;
    std::vector<mode> d_modes;
    std::vector<mode> d_ack_modes;
    std::map<uint32_t, station> d_stations; // by raw address
};

} // namespace gr::hf::s5066
