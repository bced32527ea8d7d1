/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <memory>

namespace gr::hf::kernel {

/*! \brief Discrete Fourier transforms of one length, in place, in a work space
 *         aligned for the processor's vector units.
 *  \details Each transform reads a copy. FFTW's plans for one array buffer parts of it, and
 *  take twice as long for 64 to 512 points. Not for two threads at once.
 */
class fourier
{
public:
    using value = std::complex<float>;

    //! \p n points, at least 1.
    explicit fourier(size_t n = 1);

    //! The least length with small factors that holds \p n points.
    static size_t length_for(size_t n);

    size_t size() const { return d_n; }
    //! size() values.
    value* data() { return reinterpret_cast<value*>(d_data.get()); }

    //! X(k) = sum_n x(n) exp(-j 2 pi n k / size()).
    void forward() const;
    //! x(n) = sum_k X(k) exp(j 2 pi n k / size()). forward() and backward() together
    //! multiply by size().
    void backward() const;

private:
    struct release {
        void operator()(float* p) const;
    };
    struct plans;

    size_t d_n;
    std::unique_ptr<float, release> d_data, d_copy;
    const plans* d_plans; // kept for the life of the program
};

} // namespace gr::hf::kernel
