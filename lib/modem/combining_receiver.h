/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/cued_receiver.h"
#include "modem/soft_combiner.h"
#include "modem/soft_receiver.h"

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Receivers at 2 to 6 places that heard the same transmissions, each with its own
 *         clock and start time. Decodes every transmission from the soft bits of all.
 *
 * \code
 *      combining_receiver rx(3, rx_options{}, receptions(3000));
 *      for (size_t k = 0; k < 3; ++k)
 *          rx.push(k, recording[k].data(), recording[k].size());
 *      for (const combined_message& m : rx.combine()) { ... m.octets ... }
 * \endcode
 */
class combining_receiver
{
public:
    static constexpr size_t min_receivers = 2, max_receivers = 6;

    /*! \param options, families as burst_receiver
     *  \throws std::invalid_argument for a number of receivers not in 2 to 6, and as
     *          burst_receiver
     */
    combining_receiver(size_t receivers,
                       const rx_options& options,
                       const std::vector<const family_reception*>& families);

    /*! \brief Take samples of one receiver, see burst_receiver::push(). Receivers are
     *         independent: their samples may come in turns or one after the other.
     *  \param receiver its number, from 0 on
     */
    void push(size_t receiver,
              const std::complex<float>* samples,
              size_t n,
              const float* erased = nullptr);

    /*! \brief True if a second reading may help. Then push all samples of every receiver
     *         again, from the first on.
     *  \details Each receiver looks for the transmissions whose start only others have
     *  found. It knows their mode and roughly their time, so it finds weaker ones.
     */
    bool again();

    //! Transmissions that a receiver heard by itself so far.
    size_t heard(size_t receiver) const;

    size_t receivers() const { return d_receivers.size(); }

    //! Combine and decode everything heard, in order of time.
    std::vector<combined_message> combine() const;

private:
    std::optional<double> delay(const std::vector<combined_message>& messages,
                                size_t receiver,
                                const combined_message& m) const;

    rx_options d_options;
    bool d_again = false; // samples come for the second time
    std::vector<std::unique_ptr<soft_receiver>> d_receivers;
    //! Of each receiver: those for the transmissions that others have found.
    std::vector<std::vector<std::unique_ptr<cued_receiver>>> d_cued;
};

} // namespace gr::hf::kernel
