/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/channel_view.h"
#include "modem/front/fourier.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The matrix A of a frame_observation as an operator: symbols pass through a few
 *         paths with their delays, the pulse, and back through the channel's matched
 *         filter.
 *
 *  A = G^H P G,   (G s)(j) = sum_n g_(j - 2 n)(n) s_n,   P(i, j) = p(i - j)
 *
 * For a few paths at any delays this costs some hundred products per symbol. A banded
 * matrix would cost the delay per symbol, and its factors the square of the delay. The
 * channel is constant within sub-blocks of symbols. See docs/receiver.md, "Wide
 * bandwidths".
 */
class path_matrix
{
public:
    using value = std::complex<float>;
    using values = std::vector<value>;

    /*! \param count symbols of the frame
     *  \param around symbols on either side that match() reads
     *  \param taps delays of the paths, half symbols, ascending
     *  \param sub_block symbols
     */
    void
    resize(size_t count, size_t around, std::vector<uint16_t> taps, size_t sub_block);

    size_t size() const { return d_count; }
    size_t around() const { return d_around; }
    //! Number of blocks, from around() symbols before the first on. The last may be cut.
    size_t blocks() const { return d_blocks.size(); }
    //! Middle of block \p b, in symbols after the first one of the frame.
    double middle_of(size_t b) const;
    //! Block of symbol \p n, -around() to size() + around() - 1.
    size_t block_of(int64_t n) const;
    const std::vector<uint16_t>& taps() const { return d_taps; }

    //! Gains of the paths in block \p b.
    channel_taps& gains(size_t b) { return d_blocks[b]; }
    const channel_taps& gains(size_t b) const { return d_blocks[b]; }

    //! The pulse through its matched filter, \p rows half symbols from its centre, cut as
    //! in this class.
    static float pulse(int rows);

    //! Range of half-symbol rows, from the row of symbol 0 on, that the symbols and those
    //! around reach.
    int64_t first_row() const;
    int64_t last_row() const;

    //! z = G^H (y - P G x); \p y from first_row() to last_row() - 1, \p x with the
    //! symbols around.
    void match(const value* y, const value* x, value* z);
    //! out = A x, size() values each.
    void apply(const value* x, value* out);
    //! Diagonal element of symbol \p n.
    float energy(size_t n) const { return d_energy[block_of(static_cast<int64_t>(n))]; }
    //! Call once all gains are set.
    void measure_energy();
    //! Share of the energy of symbol \p n in samples not erased, 0 to 1.
    float share_left(size_t n) const;
    //! True if anything was taken out.
    bool erased() const { return !d_taken_out.empty(); }

    /*! \brief Subtract the contribution of an erased sample: the outer product of \p h
     *         with itself. \p h is the contribution of the symbols from \p first on to
     *         that sample.
     */
    void take_out(int64_t first, values h);

    /*! \brief Spectrum of A for the channel of block \p b throughout: real, of
     *         \p f.size() frequencies.
     */
    void spectrum(size_t b, fourier& f, std::vector<float>& out) const;

private:
    struct planes { // rows of even and odd number, real and imaginary parts
        std::vector<float> part[2][2];
        void clear(size_t n);
    };
    struct outer_product {
        int64_t first;
        values h;
    };
    void spread(const value* x, int64_t begin, int64_t end);
    void filter();
    void gather(const planes& from, value* out) const;

    size_t d_count = 0, d_around = 0, d_sub = 1;
    size_t d_before = 0; // symbols before the first at which blocks start
    std::vector<uint16_t> d_taps;
    std::vector<channel_taps> d_blocks;
    std::vector<float> d_energy; // of each block
    std::vector<outer_product> d_taken_out;
    std::vector<float> d_lost; // energy of each symbol that was taken out; empty: none
    planes d_sent, d_seen;
    std::vector<float> d_re, d_im;
};

} // namespace gr::hf::kernel
