/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Solves A x = b for a Hermitian positive definite matrix of some ten to hundred
 *         rows, by Cholesky factors. Keeps its work space between calls.
 */
class hermitian_solver
{
public:
    using value = std::complex<float>;

    //! Start a system of \p n unknowns, all elements zero.
    void resize(size_t n);
    size_t size() const { return d_n; }

    //! Element of A; only row >= col is read.
    void add(size_t row, size_t col, value v)
    {
        d_re[col * d_n + row] += v.real();
        d_im[col * d_n + row] += v.imag();
    }
    value& rhs(size_t row) { return d_x[row]; }

    /*! \brief Solve in place: rhs() becomes x.
     *  \returns false if A is not positive definite (numerically); x is then zero.
     */
    bool solve();

private:
    size_t d_n = 0;
    std::vector<float> d_re, d_im; // column by column, lower triangle
    std::vector<value> d_x;
};

/*! \brief Factors A = L D L^H of a banded Hermitian positive definite matrix; L is unit
 *         lower triangular.
 *
 * Storage: element (n, n - d), d = 0 .. band, column by column. Nothing is left of
 * column 0.
 */
class banded_factors
{
public:
    using value = std::complex<float>;

    void resize(size_t n, size_t band);
    size_t size() const { return d_n; }
    size_t band() const { return d_band; }

    //! Element in row \p n, \p d places left of the diagonal; d is at most n.
    value& at(size_t n, size_t d) { return d_a[(n - d) * (d_band + 1) + d]; }
    const value& at(size_t n, size_t d) const { return d_a[(n - d) * (d_band + 1) + d]; }

    /*! \brief Replace the matrix by its factors: at(n, 0) becomes D_n, the others L.
     *  \details A pivot below \p floor times its diagonal element is raised to that
     *  value. Such a matrix was not positive, and small pivots would let the factors
     *  grow without bound.
     */
    void factor(float floor);

    //! x := L^-1 x.
    void forward(value* x) const;

    /*! \brief backward(): A^-1 x, given D^-1 L^-1 x in \p x. inverse_diagonal(): diagonal
     *         of A^-1 from the factors.
     */
    void backward(value* x) const;
    void inverse_diagonal(std::vector<float>& diagonal) const;

private:
    size_t d_n = 0, d_band = 0;
    std::vector<value> d_a;
};

} // namespace gr::hf::kernel
