/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/soft_decoder.h"
#include "modem/decode/viterbi.h"
#include "waveform/coding/convolutional_code.h"
#include "waveform/description.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Bits of a decoded block.
struct decoded_block {
    /*! One bit per element. Running codes return some of them later. Erased bits, those of
     *  soft bits that are all 0, are ones: the CRC-32 of D_PDUs (STANAG 5066 C.3.2.11) finds
     *  no error in zeros. */
    std::vector<uint8_t> bits;
    double quality = 0; //!< 0 = guesses, 1 = no soft bit contradicts the result
    //! Share of the soft bits' magnitude that agrees with the result, less the share that
    //! does not.
    double agreement = 0;
    size_t compared = 0;  //!< soft bits compared; repeated ones count once
    double coded_ber = 0; //!< share of coded bits that the decoder changed
    //! Log-likelihood ratios of the whole block, T1 and T2 of each input bit, before the
    //! decoder. Running codes only.
    std::vector<float> pairs;
};

//! How well soft values fit one hypothesis.
struct code_fit {
    //! No symbol or bit contradicts by more: in a fade some ratios are far too large. One
    //! choice, not swept.
    static constexpr double max_of_one = 6;

    double likelihood = 0; //!< logarithm, over that of independent random bits
    //! Sum of the squares of what contradicts the hypothesis: by so much chance moves the
    //! likelihood of a hypothesis that is wrong.
    double variance = 0;

    code_fit& operator+=(const code_fit& o)
    {
        likelihood += o.likelihood;
        variance += o.variance;
        return *this;
    }
};

/*! \brief Converts soft bits of interleaver blocks to user bits: de-interleave, combine
 *         repetitions, fill in punctured bits, Viterbi. The description must outlive it.
 */
class block_decoder
{
public:
    explicit block_decoder(const description& d);

    const description& waveform() const { return d_d; }

    //! \p soft holds description::coded_bits values, positive for 0, in order of arrival.
    decoded_block decode(const std::vector<float>& soft) { return decode(soft, soft); }

    //! The same. The result is compared with \p evidence instead of \p soft.
    decoded_block decode(const std::vector<float>& soft,
                         const std::vector<float>& evidence);

    /*! \brief The a-posteriori ratio of each received bit, for iterating. Call any number
     *         of times before decode() of the same block.
     *  \details Uncoded modes return the input.
     */
    void soft_output(const std::vector<float>& soft, std::vector<float>& posterior);

    /*! \brief How well a block's soft bits fit the best code word.
     *  \details Compares readings of the same block; tail-biting codes only, others give 0.
     */
    code_fit fit(const std::vector<float>& soft);

private:
    void to_pairs(const std::vector<float>& soft);
    void compare(decoded_block& b);

    const description& d_d;
    std::vector<uint32_t> d_pair_index; // index of each received bit in the stream of
                                        // pairs
    std::vector<float> d_pairs;
    viterbi_decoder d_viterbi;
    code_plan d_mother; // the code without repetition and puncturing
    convolutional_encoder d_encoder;
    std::vector<float> d_waiting; // evidence of pairs whose bits are not decided yet
    soft_decoder d_soft;
    std::vector<float> d_posterior;       // of pairs
    soft_decoder::metrics d_begin, d_end; // states of a running code, for this block
    bool d_end_known = false;
    double d_by_chance = 0; // agreement of noise with the best code word
};

} // namespace gr::hf::kernel
