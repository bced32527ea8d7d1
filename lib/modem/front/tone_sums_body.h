/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of piecewise_tone, in the compiler's own vectors: the compiler does not vectorise
 * a maximum. Compiled for each kind of processor, with HF_LANES, see vector_loops.h. */

using lanes = double __attribute__((vector_size(HF_LANES * sizeof(float))));
constexpr size_t width = HF_LANES / 2;

// Not memcpy: distributions use _FORTIFY_SOURCE, and GCC inlines its memcpy into no other
// target.
inline __attribute__((always_inline)) lanes load(const double* from)
{
    lanes v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

inline double largest(const double* a, const double* b, size_t n)
{
    constexpr size_t sides = 2; // independent maxima hide their latency
    lanes most[sides] = {};
    for (size_t k = 0; k < n; k += sides * width)
        for (size_t s = 0; s < sides; ++s) {
            const size_t at = k + s * width;
            const lanes re = load(a + at) - load(b + at);
            const lanes im = load(a + n + at) - load(b + n + at);
            const lanes power = re * re + im * im;
            most[s] = power > most[s] ? power : most[s];
        }
    double all = 0;
    for (const lanes& m : most)
        for (size_t l = 0; l < width; ++l)
            all = m[l] > all ? m[l] : all;
    return all;
}
