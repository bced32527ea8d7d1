/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

//! A sample that is unknown in part or as a whole.
struct erasure {
    int64_t sample;
    float share; //!< missing share of the sample, above 0, to 1
};

inline bool operator<(const erasure& e, int64_t sample) { return e.sample < sample; }

/*! \brief Samples by absolute index; the user drops old ones. A sample may be erased in
 *         part or as a whole: then 0 has replaced that share of it.
 */
class sample_buffer
{
public:
    int64_t begin() const { return d_begin; }
    int64_t end() const { return d_begin + static_cast<int64_t>(d_data.size() - d_head); }

    void append(const std::complex<float>* x, size_t n)
    {
        d_data.insert(d_data.end(), x, x + n);
    }

    //! Append one sample with a missing share of \p share, 0 to 1.
    void append(std::complex<float> x, float share)
    {
        if (share > 0)
            d_erased.push_back({ end(), share });
        d_data.push_back(x);
    }

    //! The erased samples, ascending.
    const std::deque<erasure>& erased() const { return d_erased; }

    //! Note that carriers were taken out of the last sample.
    void mark_carriers() { d_carriers_until = end(); }
    //! One past the last sample that carriers were taken out of; INT64_MIN: none was.
    int64_t carriers_until() const { return d_carriers_until; }

    //! Pointer to sample \p i, in begin() .. end() - 1, and the samples after it.
    const std::complex<float>* at(int64_t i) const
    {
        return d_data.data() + d_head + (i - d_begin);
    }

    //! Drop samples before \p i.
    void drop_before(int64_t i)
    {
        i = std::min(i, end());
        if (i <= d_begin)
            return;
        d_head += static_cast<size_t>(i - d_begin);
        d_begin = i;
        while (!d_erased.empty() && d_erased.front().sample < i)
            d_erased.pop_front();
        if (d_head > 8192 && d_head > d_data.size() / 2) { // move rarely
            d_data.erase(d_data.begin(), d_data.begin() + static_cast<long>(d_head));
            d_head = 0;
        }
    }

    //! Sample i becomes sample i + \p by.
    void renumber(int64_t by)
    {
        d_begin += by;
        for (erasure& e : d_erased)
            e.sample += by;
    }

    //! Subtract \p n values from sample \p i and those after it.
    void subtract(int64_t i, const std::complex<float>* x, size_t n)
    {
        for (size_t k = 0; k < n; ++k, ++i)
            if (i >= d_begin && i < end())
                d_data[d_head + static_cast<size_t>(i - d_begin)] -= x[k];
    }

    //! Set sample \p i to 0.
    void erase(int64_t i)
    {
        if (i >= d_begin && i < end())
            d_data[d_head + static_cast<size_t>(i - d_begin)] = 0;
    }

    //! Multiply sample \p i and those after it.
    void scale_from(int64_t i, float factor)
    {
        for (auto k = std::max(i, d_begin); k < end(); ++k)
            d_data[d_head + static_cast<size_t>(k - d_begin)] *= factor;
    }

    //! Drop sample \p i and those after it.
    void drop_from(int64_t i)
    {
        if (i < end())
            d_data.resize(d_head + static_cast<size_t>(std::max(i, d_begin) - d_begin));
    }

    //! Empty the buffer; the next sample has index \p i.
    void restart(int64_t i)
    {
        d_data.clear();
        d_erased.clear();
        d_head = 0;
        d_begin = i;
        d_carriers_until = INT64_MIN;
    }

private:
    std::vector<std::complex<float>> d_data;
    std::deque<erasure> d_erased;
    size_t d_head = 0; // place of sample d_begin
    int64_t d_begin = 0;
    int64_t d_carriers_until = INT64_MIN;
};

} // namespace gr::hf::kernel
