/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/fourier.h"

#include <algorithm>
#include <map>
#include <mutex>
// after complex, so that the transform takes std::complex
#include <fftw3.h>

namespace gr::hf::kernel {

struct fourier::plans {
    fftwf_plan forward, backward;
};

namespace {

fftwf_complex* as_fftw(float* p) { return reinterpret_cast<fftwf_complex*>(p); }

} // namespace

void fourier::release::operator()(float* p) const { fftwf_free(p); }

fourier::fourier(size_t n)
    : d_n(n), d_data(fftwf_alloc_real(2 * n)), d_copy(fftwf_alloc_real(2 * n))
{
    static std::mutex mutex;
    // Never freed: threads may still transform while the program exits.
    static auto& all = *new std::map<size_t, plans>;
    const std::lock_guard<std::mutex> lock(mutex);
    auto found = all.find(n);
    if (found == all.end()) {
        // Other code in the process plans transforms too, under its own locks.
        fftwf_make_planner_thread_safe();
        const auto plan = [&](int sign) {
            return fftwf_plan_dft_1d(static_cast<int>(n),
                                     as_fftw(d_copy.get()),
                                     as_fftw(d_data.get()),
                                     sign,
                                     FFTW_ESTIMATE);
        };
        found = all.emplace(n, plans{ plan(FFTW_FORWARD), plan(FFTW_BACKWARD) }).first;
    }
    d_plans = &found->second;
}

size_t fourier::length_for(size_t n)
{
    size_t best = 1;
    while (best < n)
        best *= 2;
    for (const size_t odd : { 3, 5, 9 }) {
        size_t length = odd;
        while (length < n)
            length *= 2;
        if (length < best)
            best = length;
    }
    return best;
}

void fourier::forward() const
{
    std::copy_n(d_data.get(), 2 * d_n, d_copy.get());
    fftwf_execute_dft(d_plans->forward, as_fftw(d_copy.get()), as_fftw(d_data.get()));
}

void fourier::backward() const
{
    std::copy_n(d_data.get(), 2 * d_n, d_copy.get());
    fftwf_execute_dft(d_plans->backward, as_fftw(d_copy.get()), as_fftw(d_data.get()));
}

} // namespace gr::hf::kernel
