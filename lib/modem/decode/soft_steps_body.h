/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loops of soft_steps, written in the compiler's own vectors. The compiler does not
 * always vectorise a loop over an array, and never a maximum over one. Compiled for each
 * kind of processor, with HF_LANES, see vector_loops.h. */

#define HF_BODY inline __attribute__((always_inline))
#define HF_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

using lanes = float __attribute__((vector_size(HF_LANES * sizeof(float))));
constexpr size_t width = HF_LANES;

HF_BODY lanes larger(lanes a, lanes b) { return a > b ? a : b; }

// Not memcpy: distributions use _FORTIFY_SOURCE, and GCC inlines its memcpy into no other
// target.
HF_BODY lanes load(const float* from)
{
    lanes v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
HF_BODY void store(float* to, lanes v) { __builtin_memcpy(to, &v, sizeof v); }

// From two vectors: even lanes, odd lanes, first halves interleaved, second halves
// interleaved.
HF_BODY lanes even_of(lanes a, lanes b)
{
#if HF_LANES == 8
    return HF_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#else
    return HF_SHUFFLE(a, b, 0, 2, 4, 6);
#endif
}
HF_BODY lanes odd_of(lanes a, lanes b)
{
#if HF_LANES == 8
    return HF_SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#else
    return HF_SHUFFLE(a, b, 1, 3, 5, 7);
#endif
}
HF_BODY lanes first_halves(lanes a, lanes b)
{
#if HF_LANES == 8
    return HF_SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
    return HF_SHUFFLE(a, b, 0, 4, 1, 5);
#endif
}
HF_BODY lanes second_halves(lanes a, lanes b)
{
#if HF_LANES == 8
    return HF_SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    return HF_SHUFFLE(a, b, 2, 6, 3, 7);
#endif
}

// Lane 0: the largest of a, lane 1: of b, lane 2: of c, lane 3: of d.
HF_BODY lanes largest_of(lanes a, lanes b, lanes c, lanes d)
{
#if HF_LANES == 8
    const lanes ab = larger(HF_SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13),
                            HF_SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15));
    const lanes cd = larger(HF_SHUFFLE(c, d, 0, 8, 1, 9, 4, 12, 5, 13),
                            HF_SHUFFLE(c, d, 2, 10, 3, 11, 6, 14, 7, 15));
    const lanes all = larger(HF_SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13),
                             HF_SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15));
    return larger(all, HF_SHUFFLE(all, all, 4, 5, 6, 7, 0, 1, 2, 3));
#else
    const lanes ab = larger(HF_SHUFFLE(a, b, 0, 4, 1, 5), HF_SHUFFLE(a, b, 2, 6, 3, 7));
    const lanes cd = larger(HF_SHUFFLE(c, d, 0, 4, 1, 5), HF_SHUFFLE(c, d, 2, 6, 3, 7));
    return larger(HF_SHUFFLE(ab, cd, 0, 1, 4, 5), HF_SHUFFLE(ab, cd, 2, 3, 6, 7));
#endif
}

/* Metrics of all states. Even and odd states apart, as butterflies read them, or in
 * order, as butterflies write them. */
template <unsigned K>
struct state_lanes {
    static constexpr size_t count = trellis<K>::half / width;
    lanes first[count], second[count]; // states 2 j and 2 j + 1, or j and j + half

    HF_BODY void load_in_order(const float* metric)
    {
        for (size_t i = 0; i < count; ++i) {
            first[i] = load(metric + width * i);
            second[i] = load(metric + width * (count + i));
        }
    }
    HF_BODY void store_in_order(float* metric) const
    {
        for (size_t i = 0; i < count; ++i) {
            store(metric + width * i, first[i]);
            store(metric + width * (count + i), second[i]);
        }
    }
    // Convert from in order to even and odd.
    HF_BODY state_lanes parted() const
    {
        state_lanes p;
        for (size_t i = 0; i < count; ++i) {
            const lanes a = 2 * i < count ? first[2 * i] : second[2 * i - count];
            const lanes b = 2 * i < count ? first[2 * i + 1] : second[2 * i + 1 - count];
            p.first[i] = even_of(a, b);
            p.second[i] = odd_of(a, b);
        }
        return p;
    }
    // Convert from even and odd to in order.
    HF_BODY state_lanes joined() const
    {
        state_lanes p;
        for (size_t i = 0; i < count; ++i) {
            const lanes a = first_halves(first[i], second[i]);
            const lanes b = second_halves(first[i], second[i]);
            (2 * i < count ? p.first[2 * i] : p.second[2 * i - count]) = a;
            (2 * i < count ? p.first[2 * i + 1] : p.second[2 * i + 1 - count]) = b;
        }
        return p;
    }
    // Shift the metrics so that the largest is 0.
    HF_BODY void normalise()
    {
        lanes top = first[0];
        for (size_t i = 0; i < count; ++i)
            top = larger(top, larger(first[i], second[i]));
        const float largest = largest_of(top, top, top, top)[0];
        for (size_t i = 0; i < count; ++i) {
            first[i] -= largest;
            second[i] -= largest;
        }
    }
};

// Metrics over n steps forward. \p keep (may be null) gets the metrics before each step,
// parted.
template <unsigned K>
HF_BODY void forward_body(const float* pairs,
                          size_t n,
                          const trellis<K>& sg,
                          float* metric,
                          float* keep)
{
    state_lanes<K> at;
    at.load_in_order(metric);
    for (size_t k = 0; k < n; ++k) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        const state_lanes<K> from = at.parted();
        if (keep)
            from.store_in_order(keep + k * trellis<K>::states);
        for (size_t i = 0; i < at.count; ++i) {
            const lanes m = a * load(sg.t1 + width * i) + b * load(sg.t2 + width * i);
            at.first[i] = larger(from.first[i] + m, from.second[i] - m);
            at.second[i] = larger(from.first[i] - m, from.second[i] + m);
        }
        if ((k & 15) == 15)
            at.normalise();
    }
    at.normalise();
    at.store_in_order(metric);
}

template <unsigned K>
HF_BODY void
backward_body(const float* pairs, size_t n, const trellis<K>& sg, float* metric)
{
    state_lanes<K> at, to;
    at.load_in_order(metric);
    for (size_t k = n; k-- > 0;) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        for (size_t i = 0; i < at.count; ++i) {
            const lanes m = a * load(sg.t1 + width * i) + b * load(sg.t2 + width * i);
            to.first[i] = larger(at.first[i] + m, at.second[i] - m);
            to.second[i] = larger(at.first[i] - m, at.second[i] + m);
        }
        at = to.joined();
        if ((k & 15) == 0)
            at.normalise();
    }
    at.store_in_order(metric);
}

// Like backward_body(), with the a-posteriori ratios from the parted forward metrics in
// \p alpha.
template <unsigned K>
HF_BODY void combine_body(const float* pairs,
                          size_t n,
                          const trellis<K>& sg,
                          const float* alpha,
                          float* metric,
                          float* out)
{
    state_lanes<K> at, to, from;
    at.load_in_order(metric);
    for (size_t k = n; k-- > 0;) {
        const float a = pairs[2 * k] / 2, b = pairs[2 * k + 1] / 2;
        from.load_in_order(alpha + k * trellis<K>::states);
        lanes t1_zero{}, t1_one{}, t2_zero{}, t2_one{}; // best of each
        for (size_t i = 0; i < at.count; ++i) {
            const lanes t1 = load(sg.t1 + width * i), t2 = load(sg.t2 + width * i);
            const lanes m = a * t1 + b * t2;
            const lanes zero = at.first[i], one = at.second[i];
            const lanes same = larger(from.first[i] + zero, from.second[i] + one) + m;
            const lanes other = larger(from.second[i] + zero, from.first[i] + one) - m;
            const lanes a0 = t1 > 0 ? same : other, a1 = t1 > 0 ? other : same;
            const lanes b0 = t2 > 0 ? same : other, b1 = t2 > 0 ? other : same;
            t1_zero = i > 0 ? larger(t1_zero, a0) : a0;
            t1_one = i > 0 ? larger(t1_one, a1) : a1;
            t2_zero = i > 0 ? larger(t2_zero, b0) : b0;
            t2_one = i > 0 ? larger(t2_one, b1) : b1;
            to.first[i] = larger(zero + m, one - m);
            to.second[i] = larger(zero - m, one + m);
        }
        const lanes best = largest_of(t1_zero, t1_one, t2_zero, t2_one);
        out[2 * k] = best[0] - best[1];
        out[2 * k + 1] = best[2] - best[3];
        at = to.joined();
        if ((k & 15) == 0)
            at.normalise();
    }
    at.store_in_order(metric);
}

template <unsigned K>
class steps_of : public soft_steps
{
public:
    explicit steps_of(const code_plan& p) : d_trellis(p.t1, p.t2) {}
    size_t states() const override { return trellis<K>::states; }
    void forward(const float* pairs, size_t n, float* metric, float* keep) const override
    {
        forward_body(pairs, n, d_trellis, metric, keep);
    }
    void backward(const float* pairs, size_t n, float* metric) const override
    {
        backward_body(pairs, n, d_trellis, metric);
    }
    void combine(const float* pairs,
                 size_t n,
                 const float* kept,
                 float* metric,
                 float* out) const override
    {
        combine_body(pairs, n, d_trellis, kept, metric, out);
    }

private:
    trellis<K> d_trellis;
};

inline std::unique_ptr<soft_steps> make(const code_plan& p)
{
    if (p.constraint_length == 7)
        return std::make_unique<steps_of<7>>(p);
    if (p.constraint_length == 9)
        return std::make_unique<steps_of<9>>(p);
    throw std::invalid_argument("soft decoder: constraint length " +
                                std::to_string(p.constraint_length) +
                                ", allowed are 7 and 9");
}

#undef HF_BODY
#undef HF_SHUFFLE
