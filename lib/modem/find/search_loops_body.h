/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search_loops, written in the compiler's own vectors: sums in arrays would be stored
 * and loaded at each step. Compiled for each kind of processor, with HF_LANES, see
 * vector_loops.h. */

constexpr size_t side = HF_LANES;
using lanes = float __attribute__((vector_size(side * sizeof(float))));
using lane_numbers = int __attribute__((vector_size(side * sizeof(int))));

#define HF_LOAD(to, from) __builtin_memcpy(&(to), (from), sizeof(lanes))
#define HF_STORE(to, from) __builtin_memcpy((to), &(from), sizeof(lanes))

// At +offset and -offset, power and amplitude need C -+ j S, with C = sum x cos and S =
// sum x sin.
struct sums {
    lanes cr, ci, sr, si;
};

inline void correlate_piece(const float* re,
                            const float* im,
                            const std::complex<float>* symbols,
                            size_t count,
                            float* out_re,
                            float* out_im)
{
    constexpr size_t at_once = 4;
    const auto* c = reinterpret_cast<const float*>(symbols);
    for (size_t q = 0; q < width; q += at_once * side) {
        lanes ar[at_once] = {}, ai[at_once] = {};
        for (size_t s = 0; s < count; ++s) {
            const float *yr = re + q + 2 * s, *yi = im + q + 2 * s;
#pragma GCC unroll 4
            for (size_t k = 0; k < at_once; ++k) {
                lanes r, i;
                HF_LOAD(r, yr + k * side);
                HF_LOAD(i, yi + k * side);
                ar[k] += r * c[2 * s] + i * c[2 * s + 1];
                ai[k] += i * c[2 * s] - r * c[2 * s + 1];
            }
        }
#pragma GCC unroll 4
        for (size_t k = 0; k < at_once; ++k) {
            HF_STORE(out_re + q + k * side, ar[k]);
            HF_STORE(out_im + q + k * side, ai[k]);
        }
    }
}

void best_offsets(const piece_rows& rows,
                  const offset_turns& turns,
                  const uint8_t* wanted,
                  float* power,
                  int* offset)
{
    constexpr size_t at_once = 2;
    for (size_t q = 0; q < part; q += at_once * side) {
        lanes top[at_once] = {};
        lane_numbers best[at_once] = {};
        for (size_t o = 0; o < turns.offsets; ++o) {
            if (wanted[o] == 0)
                continue;
            const float *c = turns.cosine + o * turns.pieces,
                        *s = turns.sine + o * turns.pieces;
            sums x[at_once] = {};
            const float *re = rows.re + q, *im = rows.im + q;
            for (size_t p = 0; p < rows.pieces; ++p) {
#pragma GCC unroll 2
                for (size_t k = 0; k < at_once; ++k) {
                    lanes r, i;
                    HF_LOAD(r, re + k * side);
                    HF_LOAD(i, im + k * side);
                    x[k].cr += r * c[p];
                    x[k].ci += i * c[p];
                    x[k].sr += r * s[p];
                    x[k].si += i * s[p];
                }
                re += rows.stride;
                im += rows.stride;
            }
            const int number = static_cast<int>(o);
#pragma GCC unroll 2
            for (size_t k = 0; k < at_once; ++k) {
                const lanes a = x[k].cr + x[k].si, b = x[k].ci - x[k].sr;
                const lanes d = x[k].cr - x[k].si, e = x[k].ci + x[k].sr;
                const lanes plus = a * a + b * b, minus = d * d + e * e;
                best[k] = plus > top[k] ? number - lane_numbers{} : best[k];
                top[k] = plus > top[k] ? plus : top[k];
                best[k] = minus > top[k] ? -number - lane_numbers{} : best[k];
                top[k] = minus > top[k] ? minus : top[k];
            }
        }
#pragma GCC unroll 2
        for (size_t k = 0; k < at_once; ++k) {
            HF_STORE(power + q + k * side, top[k]);
            HF_STORE(offset + q + k * side, best[k]);
        }
    }
}

inline bool any_exceeds(const piece_rows& rows,
                        const offset_turns& turns,
                        float limit,
                        uint8_t* where)
{
    bool any = false;
    for (size_t o = 0; o < turns.offsets; ++o) {
        const float *c = turns.cosine + o * turns.pieces,
                    *s = turns.sine + o * turns.pieces;
        lane_numbers over = {};
        for (size_t q = 0; q < part; q += side) {
            float amplitude[2 * side] = {}; // at +offset, at -offset
            for (size_t from = 0; from < rows.pieces; from += turns.pieces) {
                const size_t n =
                    rows.pieces - from < turns.pieces ? rows.pieces - from : turns.pieces;
                sums x = {};
                for (size_t p = 0; p < n; ++p) {
                    lanes r, i;
                    HF_LOAD(r, rows.re + (from + p) * rows.stride + q);
                    HF_LOAD(i, rows.im + (from + p) * rows.stride + q);
                    x.cr += r * c[p];
                    x.ci += i * c[p];
                    x.sr += r * s[p];
                    x.si += i * s[p];
                }
                const lanes a = x.cr + x.si, b = x.ci - x.sr;
                const lanes d = x.cr - x.si, e = x.ci + x.sr;
                const lanes plus = a * a + b * b, minus = d * d + e * e;
                // The compiler vectorises the root over these arrays, not over lanes of a
                // vector, and only in a loop that it does not unroll first.
                float root[2 * side];
                HF_STORE(root, plus);
                HF_STORE(root + side, minus);
#pragma GCC unroll 1
                for (size_t k = 0; k < 2 * side; ++k)
                    amplitude[k] += __builtin_sqrtf(root[k]);
            }
            lanes at_plus, at_minus;
            HF_LOAD(at_plus, amplitude);
            HF_LOAD(at_minus, amplitude + side);
            over |= (at_plus > limit) | (at_minus > limit);
        }
        int here = 0;
        for (size_t k = 0; k < side; ++k)
            here |= over[k];
        where[o] = here != 0;
        any |= here != 0;
    }
    return any;
}

constexpr loops all = { correlate_piece, best_offsets, any_exceeds };

#undef HF_LOAD
#undef HF_STORE
