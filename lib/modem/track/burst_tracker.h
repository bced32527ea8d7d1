/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/decode/block_decoder.h"
#include "modem/detect/block_details.h"
#include "modem/front/sample_buffer.h"
#include "modem/track/channel_estimator.h"
#include "modem/track/channel_report.h"
#include "modem/track/diversity_link.h"
#include "modem/track/known_channel.h"
#include "waveform/description.h"
#include "waveform/reception_plan.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! What acquisition found out about a transmission.
struct acquired {
    const description* waveform = nullptr; //!< outlives the receiver, like its plan
    const reception_plan* plan = nullptr;
    /*! \brief Input sample of half-symbol row 0 of symbol 0 - the first after the preamble -
     *         that is, where an echo at delay tap 0 of it would be centred.
     */
    double origin = 0;
    double frequency_hz = 0;
    //! How much slower the sender's sample clock runs: row i comes 2 (1 + clock) i samples later.
    double clock = 0;
    int64_t first_symbol = 0; //!< first preamble symbol seen; negative
    int64_t read_symbol = 0; //!< first one of the stretch that profile and noise are from
    std::vector<float> profile; //!< power of each delay tap
    size_t first_tap = 0;       //!< delay tap of the first path
    float noise = 1;            //!< variance of a half-symbol sample
    double snr_db = 0;          //!< in the waveform's bandwidth
    bool joined =
        false; //!< without its preamble: symbol 0 is not the transmission's first
    //! Points that end where symbol 0 begins; empty: those of the description.
    std::vector<std::complex<float>> preamble;
};

//! One interleaver block of a transmission.
struct received_block {
    decoded_block decoded;
    channel_report channel;
    //! Null unless burst_tracker::keep_details() was called.
    std::shared_ptr<const block_details> details;
};

//! Follows one transmission from its preamble on and gives its blocks.
class burst_tracker
{
public:
    virtual ~burst_tracker() = default;

    //! Go on as far as \p in allows, at most to the end of a block, which is returned.
    virtual std::optional<received_block> advance(const sample_buffer& in) = 0;
    //! Give details with each block from now on.
    virtual void keep_details() = 0;
    //! The signal has gone for as long as was allowed.
    virtual bool lost() const = 0;
    //! The symbol after the last one at which the signal was certainly there.
    virtual int64_t last_good_symbol() const = 0;

    //! Whether any of it was heard after the preamble: else something else looked like one.
    virtual bool heard() const = 0;

    //! Whether the signal was there at the latest symbol that was looked at.
    virtual bool present() const = 0;
    //! Oldest input sample that advance() still needs.
    virtual int64_t needs() const = 0;
    //! Input sample on which symbol \p n arrives by the first path.
    virtual double sample_of(int64_t symbol) const = 0;
};

/*! \param a what was acquired
 *  \param lost_after_s, effort, known, link, side see rx_options
 */
std::unique_ptr<burst_tracker>
make_tracker(const acquired& a,
             double lost_after_s,
             int effort,
             std::shared_ptr<const known_channel> known = nullptr,
             std::shared_ptr<diversity_link> link = nullptr,
             size_t side = 0);

//! Of an estimator that follows the transmission through its known symbols.
channel_estimator::options estimator_options(const acquired& a);

//! Es/N0 to dB in the bandwidth of \p d: the noise bandwidth of a symbol is the symbol rate.
double snr_in_bandwidth(double es_over_n0, const description& d);

} // namespace gr::hf::kernel
