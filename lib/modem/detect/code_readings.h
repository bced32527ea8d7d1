/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/decode/block_decoder.h"
#include "modem/detect/soft_symbols.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Decides which reading of a waveform's scrambling and code is on the air, see
 *         description::also_read_as.
 *
 * Each reading gives a log-likelihood of what was received: of the symbols, as the
 * scrambling decides which points of the ring a symbol may have, and of the best code
 * word. They add up over the first blocks. The reading of the standard is preferred, so
 * noise never proves another. Waveforms with one reading cost nothing.
 */
class code_readings
{
public:
    /*! \param d must outlive this
     *  \param known reading decided earlier in this transmission, if any
     */
    explicit code_readings(const description& d,
                           std::optional<waveform_reading> known = std::nullopt);
    ~code_readings();
    code_readings(const code_readings&) = delete;
    code_readings& operator=(const code_readings&) = delete;

    //! True while the readings are still compared: then give the blocks to it, too.
    bool open() const { return d_open; }
    size_t size() const { return d_readings.size(); }
    //! The description of reading \p r; 0 is that of the standard.
    const description& of(size_t r) const;
    //! The likeliest one.
    const description& chosen() const { return of(d_chosen); }

    /*! \brief Estimates of the symbols of a frame, for reading \p r.
     *  \param frame_in_cycle where the frame is
     */
    void frame(size_t r, size_t frame_in_cycle, const std::vector<symbol_estimate>& e);
    //! Soft bits of a whole block that do not depend on the reading.
    void soft_bits(const std::vector<float>& soft);
    //! Soft bits of the block by the chosen reading, and scrambling of its symbols.
    const std::vector<float>& soft_bits() const;
    const std::vector<uint8_t>& scrambling() const;

    /*! \brief The block is complete. Choose again.
     *  \param others the same of other receivers of this transmission. All choose the
     *         same.
     */
    void choose(const std::vector<code_readings*>& others = {});
    //! Forget the frames of a block, after choose() or without it.
    void forget();

private:
    struct one;
    void weigh();

    std::vector<std::unique_ptr<one>> d_readings;
    size_t d_chosen = 0, d_blocks = 0;
    bool d_open;
};

} // namespace gr::hf::kernel
