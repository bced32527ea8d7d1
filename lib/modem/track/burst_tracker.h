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

//! Results of acquisition.
struct acquired {
    const description* waveform = nullptr; //!< outlives the receiver, like its plan
    const reception_plan* plan = nullptr;
    /*! \brief Input sample of half-symbol row 0 of symbol 0, the first after the
     *         preamble. An echo of symbol 0 at delay tap 0 would be centred there.
     */
    double origin = 0;
    double frequency_hz = 0;
    //! Relative lag of the sender's sample clock: row i is 2 (1 + clock) i samples after
    //! row 0.
    double clock = 0;
    int64_t first_symbol = 0; //!< first preamble symbol seen; negative
    int64_t read_symbol = 0;  //!< first symbol of the stretch that gave profile and noise
    std::vector<float> profile; //!< power of each delay tap
    size_t first_tap = 0;       //!< delay tap of the first path
    float noise = 1;            //!< variance of a half-symbol sample
    double snr_db = 0;          //!< in the waveform's bandwidth
    bool joined =
        false; //!< found without its preamble: symbol 0 is not the transmission's first
    //! Points that end where symbol 0 starts. Empty: those of the description.
    std::vector<std::complex<float>> preamble;
    /*! \brief Frame that data are followed from: 0 unless a transmission is resumed in its middle.
     *  \details Symbols are counted as if it were followed from its begin.
     */
    uint64_t first_frame = 0;
    //! Reading of the standard, if an earlier part of the transmission has shown it.
    std::optional<waveform_reading> reading = std::nullopt;
    const synchroniser_plan* synchroniser = nullptr; //!< outlives the receiver
    //! Null, or the waveform with further readings of its probes, see resumption.
    std::shared_ptr<const description> with_readings = nullptr;
};

//! One interleaver block of a transmission.
struct received_block {
    decoded_block decoded;
    channel_report channel;
    //! Reading of the waveform by which it was decoded; null: that of the standard.
    const description* reading = nullptr;
    //! Null unless burst_tracker::keep_details() was called.
    std::shared_ptr<const block_details> details;
};

//! Follows one transmission from its preamble on, and returns its blocks.
class burst_tracker
{
public:
    virtual ~burst_tracker() = default;

    //! Continue as far as \p in allows, at most to the end of a block, which is returned.
    virtual std::optional<received_block> advance(const sample_buffer& in) = 0;
    //! Attach details to each block from now on.
    virtual void keep_details() = 0;
    //! True if the signal has been missing for the allowed time.
    virtual bool lost() const = 0;
    //! Symbol after the last one with the signal certainly present.
    virtual int64_t last_good_symbol() const = 0;

    //! True if any signal was received after the preamble. Else something only looked
    //! like a preamble.
    virtual bool heard() const = 0;

    //! True if the signal was present at the latest symbol examined.
    virtual bool present() const = 0;
    /*! \brief What is known of the transmission now, as if it had just been acquired; empty: it
     *         cannot be resumed after a hole in the samples.
     */
    virtual std::optional<acquired> followed() const { return std::nullopt; }
    //! Oldest input sample that advance() still needs.
    virtual int64_t needs() const = 0;
    //! Input sample at which symbol \p n arrives on the first path.
    virtual double sample_of(int64_t symbol) const = 0;
};

/*! \param a result of acquisition
 *  \param lost_after_s, effort, known, link, side see rx_options
 */
std::unique_ptr<burst_tracker>
make_tracker(const acquired& a,
             double lost_after_s,
             int effort,
             std::shared_ptr<const known_channel> known = nullptr,
             std::shared_ptr<diversity_link> link = nullptr,
             size_t side = 0);

//! Options of an estimator that follows the transmission by its known symbols.
channel_estimator::options estimator_options(const acquired& a);

//! Converts Es/N0 to dB in the bandwidth of \p d. A symbol's noise bandwidth is the
//! symbol rate.
double snr_in_bandwidth(double es_over_n0, const description& d);

} // namespace gr::hf::kernel
