/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Finds the samples of a stream hit by a short burst of noise: atmospherics,
 *         switching.
 *
 * A burst is power above limit times the running mean, for at most 5 ms. The level must
 * be back within 5 ms after it, as the start of a signal some 10 dB above the noise
 * looks like bursts. Anything longer is a signal or a level step, and the mean follows
 * at once. The waveforms (at most 8 dB above their mean) do not reach the limit.
 * Gaussian noise does in 1 sample of 20000.
 *
 * A filter in the radio stretches a burst. Its tails soon hide below the signal, where
 * they still spoil dense constellations. So a stronger burst is erased further on both
 * sides: down to 20 dB below the mean if the envelope falls by 15 dB/ms. The steep
 * filters of SSB receivers do that (6-pole Butterworth of 3 kHz: 21 dB/ms).
 */
class burst_finder
{
public:
    static constexpr float limit = 10; //!< power, relative to the running mean
    static constexpr double longest_ms = 5;
    static constexpr double memory_ms = 50; //!< of the mean

    struct options {
        double sample_rate = 9600; //!< samples/s
        //! Time over which the power is averaged; for real samples at least half a
        //! period.
        double average_ms = 0;
    };

    explicit burst_finder(const options& o)
        : d_rate(o.sample_rate), d_average(std::max<size_t>(1, samples(o.average_ms))),
          d_longest(samples(longest_ms)), d_hold(std::max<size_t>(3, samples(0.3))),
          d_return(samples(5)), d_settling(samples(10)),
          d_share(1 / static_cast<double>(d_average)),
          d_memory(static_cast<float>(1 / (memory_ms * 1e-3 * o.sample_rate))),
          d_delay(d_longest + std::max(d_hold, d_return) + samples(most_skirt_ms)),
          d_erased(ring_size()), d_powers(ring_size()), d_mask(ring_size() - 1)
    {
        float weight = d_memory;
        for (size_t k = row; k-- > 0; weight *= 1 - d_memory)
            d_row_weights[k] = weight;
        d_row_fading = weight / d_memory;
    }

    //! Samples between a sample and its verdict from push().
    size_t delay() const { return d_delay; }

    /*! \brief Take the power of the next sample. Returns true if the sample delay()
     *         before it was hit.
     *  \param known false: the sample is already erased, and its power means nothing
     */
    bool push(float power, bool known = true)
    {
        const size_t place = at(d_count);
        d_erased[place] = d_count <= d_erase_to;
        d_powers[place] = known ? power : d_mean;
        judge(averaged(place));
        ++d_count;
        const int64_t told = d_count - 1 - static_cast<int64_t>(d_delay);
        return told >= 0 && d_erased[at(told)];
    }

    //! Take the powers of \p n samples; hit[i] becomes the result of push() for the i-th.
    void push(const float* power, size_t n, uint8_t* hit)
    {
        for (size_t i = 0; i < n; ++i) {
            i += push_quiet(power + i, n - i, hit + i);
            if (i < n)
                hit[i] = push(power[i]);
        }
    }

    //! Forget bursts, keep the level.
    void restart()
    {
        std::fill(d_erased.begin(), d_erased.end(), uint8_t{ 0 });
        d_erase_to = -1;
        d_in = d_waiting = false;
    }

private:
    static constexpr double most_skirt_ms = 4.5;
    static constexpr int64_t renewal = 4096; // samples between exact sums of the average
    static constexpr size_t row = 32; // samples; 1 % of the mean's memory at 48 kHz

    // A power of two, for the mask.
    size_t ring_size() const
    {
        size_t n = 1;
        while (n < d_delay + d_average + row)
            n *= 2;
        return n;
    }
    size_t at(int64_t i) const { return static_cast<size_t>(i) & d_mask; }

    size_t samples(double ms) const
    {
        return static_cast<size_t>(std::lround(ms * 1e-3 * d_rate));
    }

    float averaged(size_t place)
    {
        if (d_average == 1)
            return d_powers[place];
        if (d_count % renewal == 0) { // stop rounding errors from adding up
            d_sum_of_average = d_powers[place];
            for (size_t k = 1; k < d_average; ++k)
                d_sum_of_average += of(d_count - static_cast<int64_t>(k));
        } else {
            // Only one addition depends on the last sample.
            d_sum_of_average += static_cast<double>(d_powers[place]) -
                                of(d_count - static_cast<int64_t>(d_average));
        }
        return share_of(d_sum_of_average);
    }
    float share_of(double sum) const
    {
        return static_cast<float>(std::max(sum, 0.0) * d_share);
    }
    float of(int64_t i) const { return i < 0 ? 0 : d_powers[at(i)]; }

    /* Takes samples that neither start a burst nor fall while one is pending: almost all.
     * Goes on by rows, as the mean depends on the last sample, which costs most of a
     * step. */
    size_t push_quiet(const float* power, size_t n, uint8_t* hit)
    {
        if (!settled() || d_in || d_waiting || d_average == 1 ||
            d_count - static_cast<int64_t>(d_delay) <= d_erase_to)
            return 0;
        n = std::min(
            n, static_cast<size_t>(renewal - 1 - (d_count + renewal - 1) % renewal));
        size_t i = 0;
        while (i + row <= n && push_quiet_row(power + i, hit + i))
            i += row;
        return i;
    }

    // Takes a row of samples unless one of them may start a burst.
    bool push_quiet_row(const float* power, uint8_t* hit)
    {
        const auto back = static_cast<int64_t>(d_average);
        double sum = d_sum_of_average;
        float average[row];
        for (size_t k = 0; k < row; ++k) {
            const int64_t now = d_count + static_cast<int64_t>(k);
            d_powers[at(now)] = power[k];
            // The rings start empty: before the first sample all is zero.
            sum += static_cast<double>(power[k]) - d_powers[at(now - back)];
            average[k] = share_of(sum);
        }
        // Use several sums that do not depend on each other.
        std::array<float, 4> largest{}, mean{};
        for (size_t k = 0; k < row; k += 4)
            for (size_t j = 0; j < 4; ++j) {
                largest[j] = std::max(largest[j], average[k + j]);
                mean[j] += d_row_weights[k + j] * average[k + j];
            }
        // Within the row the mean falls at most as if all of it were silent.
        const float faded = d_row_fading * d_mean;
        if (*std::max_element(largest.begin(), largest.end()) > limit * faded)
            return false;
        std::fill_n(hit, row, uint8_t{ 0 });
        const size_t end = std::min(row, d_erased.size() - at(d_count));
        std::fill_n(&d_erased[at(d_count)], end, uint8_t{ 0 });
        std::fill_n(d_erased.data(), row - end, uint8_t{ 0 });
        d_sum_of_average = sum;
        d_mean = faded + ((mean[0] + mean[1]) + (mean[2] + mean[3]));
        d_count += static_cast<int64_t>(row);
        return true;
    }

    void judge(float power)
    {
        if (power > limit * d_mean && settled()) {
            if (!d_in) {
                d_in = true;
                d_first = d_count - static_cast<int64_t>(d_average) + 1;
                d_peak = d_sum = 0;
                d_before = d_mean;
            }
            d_last = d_count;
            d_peak = std::max(d_peak, power);
        }
        if (!d_in) {
            // At first, the mean of all samples.
            d_mean += (settled() ? d_memory : first_memory()) * (power - d_mean);
        } else {
            d_sum += power;
            // Bursts count only up to the limit. The mean must rise after a step up.
            if (d_mean > 0)
                d_mean += d_memory * (std::min(power, limit * d_mean) - d_mean);
            if (d_last - d_first >= static_cast<int64_t>(d_longest + d_average)) {
                d_mean = d_sum / static_cast<float>(d_count - d_first + 1);
                d_in = d_waiting = false;
            } else if (d_count - d_last >= static_cast<int64_t>(d_hold)) {
                close();
            }
        }
        if (!d_waiting || d_in || d_count < d_wait_to)
            return;
        if (returned(d_count + 1)) {
            erase();
        } else {
            d_waiting = false;
            follow(mean(d_burst_last + 1, d_count + 1));
        }
    }

    float first_memory() const
    {
        return std::max(d_memory, 1 / static_cast<float>(d_count + 1));
    }
    bool settled() const { return d_count >= static_cast<int64_t>(d_settling); }

    // The burst is over. It counts if the level returns.
    void close()
    {
        d_in = false;
        if (d_waiting && d_first - d_burst_last >= static_cast<int64_t>(samples(2)) &&
            returned(d_first))
            erase();
        if (!d_waiting) {
            d_waiting = true;
            d_burst_first = d_first;
            d_burst_peak = 0;
            d_burst_before = d_before;
        }
        // A burst right after another is treated as one with it.
        d_burst_last = d_last;
        d_burst_peak = std::max(d_burst_peak, d_peak);
        d_wait_to = d_last + static_cast<int64_t>(d_return);
        if (d_burst_last - d_burst_first > static_cast<int64_t>(d_longest)) {
            d_waiting = false;
            follow(mean(d_burst_first, d_count + 1));
        }
    }

    void erase()
    {
        d_waiting = false;
        const double above = 10 * std::log10(d_burst_peak / (d_burst_before + 1e-30f));
        const auto skirt = static_cast<int64_t>(
            samples(std::clamp((above + 20) / 15, 0.0, most_skirt_ms)));
        const int64_t oldest = d_count - static_cast<int64_t>(d_delay) + 1;
        for (int64_t i = std::max({ d_burst_first - skirt, oldest, int64_t{ 0 } });
             i <= std::min(d_burst_last + skirt, d_count);
             ++i)
            d_erased[at(i)] = 1;
        d_erase_to = std::max(d_erase_to, d_burst_last + skirt);
    }

    float mean(int64_t from, int64_t to) const
    {
        float sum = 0;
        for (int64_t i = from; i < to; ++i)
            sum += of(i);
        return sum / static_cast<float>(to - from);
    }

    void follow(float power) { d_mean = std::max(d_mean, power); }

    /* True if a millisecond is as weak as before the burst. Looks from one millisecond
     * after the burst to sample \p end. */
    bool returned(int64_t end) const
    {
        constexpr float as_before = 2.5f;
        const auto piece = static_cast<int64_t>(samples(1));
        for (int64_t at = d_burst_last + piece; at + piece <= end; at += piece)
            if (mean(at, at + piece) <= as_before * d_burst_before)
                return true;
        return false;
    }

    double d_rate;
    size_t d_average, d_longest, d_hold, d_return, d_settling;
    double d_share; // weight of a sample in the average
    float d_memory;
    // The mean after a row: weights of the old mean, and of each sample's average.
    float d_row_fading;
    std::array<float, row> d_row_weights;
    size_t d_delay;
    std::vector<uint8_t> d_erased; // rings of the latest samples
    std::vector<float> d_powers;
    size_t d_mask;
    int64_t d_count = 0;     // samples taken
    int64_t d_erase_to = -1; // last sample of the tail after a burst
    float d_mean = 0;
    double d_sum_of_average = 0;
    bool d_in = false; // in a burst
    int64_t d_first = 0, d_last = 0;
    float d_peak = 0, d_sum = 0, d_before = 0;
    bool d_waiting = false; // for the level to return after a burst
    int64_t d_wait_to = 0, d_burst_first = 0, d_burst_last = 0;
    float d_burst_peak = 0, d_burst_before = 0;
};

} // namespace gr::hf::kernel
