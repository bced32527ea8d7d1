/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Powers of the latest samples of a stream, and their mean over the last few.
 *  \details The ring starts empty: before the first sample all is zero.
 */
class power_ring
{
public:
    /*! \param average samples that average() covers
     *  \param reach   samples that are kept
     */
    power_ring(size_t average, size_t reach)
        : d_average(average), d_share(1 / static_cast<double>(average)),
          d_powers(ring_size(reach)), d_mask(d_powers.size() - 1)
    {
    }

    //! A power of two, for the mask.
    static size_t ring_size(size_t reach)
    {
        size_t n = 1;
        while (n < reach)
            n *= 2;
        return n;
    }
    size_t at(int64_t i) const { return static_cast<size_t>(i) & d_mask; }
    float& operator[](int64_t i) { return d_powers[at(i)]; }
    float of(int64_t i) const { return i < 0 ? 0 : d_powers[at(i)]; }

    //! Mean power of samples \p from to \p to - 1.
    float mean(int64_t from, int64_t to) const
    {
        float sum = 0;
        for (int64_t i = from; i < to; ++i)
            sum += of(i);
        return sum / static_cast<float>(to - from);
    }

    //! Mean power up to sample \p i, the next one.
    float average(int64_t i)
    {
        if (d_average == 1)
            return of(i);
        if (i % renewal == 0) { // stop rounding errors from adding up
            d_sum = of(i);
            for (size_t k = 1; k < d_average; ++k)
                d_sum += of(i - static_cast<int64_t>(k));
        } else {
            // Only one addition depends on the last sample.
            d_sum += static_cast<double>(of(i)) - of(i - static_cast<int64_t>(d_average));
        }
        return share_of(d_sum);
    }

    /*! \brief Take \p count powers from sample \p first on.
     *  \returns their sum, for keep(), with the averages in \p average
     */
    template <size_t count>
    double take_row(int64_t first, const float* power, float* average)
    {
        const auto back = static_cast<int64_t>(d_average);
        double sum = d_sum;
        for (size_t k = 0; k < count; ++k) {
            const int64_t now = first + static_cast<int64_t>(k);
            d_powers[at(now)] = power[k];
            sum += static_cast<double>(power[k]) - d_powers[at(now - back)];
            average[k] = share_of(sum);
        }
        return sum;
    }
    //! The next average starts from \p sum, as returned by take_row().
    void keep(double sum) { d_sum = sum; }

    //! Samples from \p i on until the sum is made again.
    static size_t until_renewal(int64_t i)
    {
        return static_cast<size_t>(renewal - 1 - (i + renewal - 1) % renewal);
    }

private:
    static constexpr int64_t renewal = 4096; // samples between exact sums

    float share_of(double sum) const
    {
        return static_cast<float>(std::max(sum, 0.0) * d_share);
    }

    size_t d_average;
    double d_share; // weight of a sample in the average
    std::vector<float> d_powers;
    size_t d_mask;
    double d_sum = 0;
};

/*! \brief Running mean of a power, which forgets exponentially. Takes one value at a time, or a
 *         row of them at once.
 */
class running_mean
{
public:
    static constexpr size_t row = 32; //!< values; 1 % of the memory of 50 ms at 48 kHz

    //! \param share weight of a new value
    explicit running_mean(float share) : d_share(share)
    {
        float weight = share;
        for (size_t k = row; k-- > 0; weight *= 1 - share)
            d_weights[k] = weight;
        d_fading = weight / share;
    }

    float value() const { return d_value; }
    float share() const { return d_share; }
    void set(float value) { d_value = value; }
    void add(float value, float share) { d_value += share * (value - d_value); }
    void add(float value) { add(value, d_share); }

    //! Take a row of values unless one exceeds \p limit times the mean. Returns whether it did.
    bool add_row(const float* values, float limit)
    {
        // Use several sums that do not depend on each other.
        std::array<float, 4> largest{}, mean{};
        for (size_t k = 0; k < row; k += 4)
            for (size_t j = 0; j < 4; ++j) {
                largest[j] = std::max(largest[j], values[k + j]);
                mean[j] += d_weights[k + j] * values[k + j];
            }
        // Within the row the mean falls at most as if all of it were silent.
        const float faded = d_fading * d_value;
        if (*std::max_element(largest.begin(), largest.end()) > limit * faded)
            return false;
        d_value = faded + ((mean[0] + mean[1]) + (mean[2] + mean[3]));
        return true;
    }

private:
    float d_share;
    // The mean after a row: weights of the old mean, and of each value.
    float d_fading;
    std::array<float, row> d_weights;
    float d_value = 0;
};

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
        : d_spans(o),
          d_powers(d_spans.average, d_spans.delay + d_spans.average + running_mean::row),
          d_mean(static_cast<float>(1 / (memory_ms * 1e-3 * o.sample_rate))),
          d_erased(
              power_ring::ring_size(d_spans.delay + d_spans.average + running_mean::row))
    {
    }

    //! A stretch of power above the limit.
    struct burst {
        int64_t first = 0, last = 0; //!< samples
        float before = 0;            //!< mean power before it
        float peak = 0;
    };

    //! Samples between a sample and its verdict from push().
    size_t delay() const { return d_spans.delay; }
    //! Most samples before and after a burst that it reaches to.
    size_t reach() const { return d_spans.of(max_skirt_ms); }
    //! Samples that power is averaged over.
    size_t average() const { return d_spans.average; }

    /*! \brief Take the power of the next sample. Returns true if the sample delay()
     *         before it was hit.
     *  \param known false: the sample is already erased, and its power means nothing
     */
    bool push(float power, bool known = true)
    {
        return push(
            power, known, [this](const burst& b) { erase_with_skirts(b); });
    }
    //! Calls \p on_burst with each burst found. It must call an erase().
    template <class OnBurst>
    bool push(float power, bool known, OnBurst&& on_burst)
    {
        d_erased[d_powers.at(d_count)] = d_count <= d_erase_to;
        d_powers[d_count] = known ? power : d_mean.value();
        judge(d_powers.average(d_count));
        for (const burst& b : d_found)
            on_burst(b);
        d_found.clear();
        ++d_count;
        const int64_t reported = d_count - 1 - static_cast<int64_t>(d_spans.delay);
        return reported >= 0 && d_erased[d_powers.at(reported)];
    }

    //! Take the powers of \p n samples; hit[i] becomes the result of push() for the i-th.
    void push(const float* power, size_t n, uint8_t* hit)
    {
        push(
            power, n, hit, [this](const burst& b) { erase_with_skirts(b); });
    }
    template <class OnBurst>
    void push(const float* power, size_t n, uint8_t* hit, OnBurst&& on_burst)
    {
        for (size_t i = 0; i < n; ++i) {
            i += push_quiet(power + i, n - i, hit + i);
            if (i < n)
                hit[i] = push(power[i], true, on_burst);
        }
    }

    //! The samples without a verdict, while a burst is reported: the first and the last.
    int64_t oldest() const { return d_count - static_cast<int64_t>(d_spans.delay) + 1; }
    int64_t latest() const { return d_count; }

    //! Erase sample \p i, one without a verdict yet or one to come.
    void erase(int64_t i)
    {
        if (i < std::max<int64_t>(0, oldest()))
            return;
        d_erase_to = std::max(d_erase_to, i);
        if (i <= d_count)
            d_erased[d_powers.at(i)] = 1;
    }

    //! Erase a burst as far as filters stretch it.
    void erase_with_skirts(const burst& b)
    {
        const double above = 10 * std::log10(b.peak / (b.before + 1e-30f));
        const auto skirt = static_cast<int64_t>(
            d_spans.of(std::clamp((above + 20) / 15, 0.0, max_skirt_ms)));
        for (int64_t i = std::max(b.first - skirt, oldest()); i <= b.last + skirt; ++i)
            erase(i);
    }

    //! Forget bursts, keep the level.
    void restart()
    {
        std::fill(d_erased.begin(), d_erased.end(), uint8_t{ 0 });
        d_erase_to = -1;
        d_now.reset();
        d_over.reset();
    }

private:
    static constexpr double max_skirt_ms = 4.5;
    static constexpr size_t row = running_mean::row;

    //! Times of the finder, samples.
    struct spans {
        explicit spans(const options& o)
            : sample_rate(o.sample_rate), average(std::max<size_t>(1, of(o.average_ms))),
              longest(of(longest_ms)), hold(std::max<size_t>(3, of(0.3))), back(of(5)),
              settling(of(10)), delay(longest + std::max(hold, back) + of(max_skirt_ms))
        {
        }
        size_t of(double ms) const
        {
            return static_cast<size_t>(std::lround(ms * 1e-3 * sample_rate));
        }
        double sample_rate;
        size_t average;  //!< of the power
        size_t longest;  //!< burst
        size_t hold;     //!< without power above the limit: the burst is over
        size_t back;     //!< the level returns within this after a burst
        size_t settling; //!< of the mean, at first
        size_t delay;    //!< of the verdict
    };

    /* Takes samples that neither start a burst nor fall while one is pending: almost all.
     * Goes on by rows, as the mean depends on the last sample, which costs most of a
     * step. */
    size_t push_quiet(const float* power, size_t n, uint8_t* hit)
    {
        if (!settled() || d_now || d_over || d_spans.average == 1 ||
            d_count - static_cast<int64_t>(d_spans.delay) <= d_erase_to)
            return 0;
        n = std::min(n, power_ring::until_renewal(d_count));
        size_t i = 0;
        while (i + row <= n && push_quiet_row(power + i, hit + i))
            i += row;
        return i;
    }

    // Takes a row of samples unless one of them may start a burst.
    bool push_quiet_row(const float* power, uint8_t* hit)
    {
        float average[row];
        const double sum = d_powers.take_row<row>(d_count, power, average);
        if (!d_mean.add_row(average, limit))
            return false;
        d_powers.keep(sum);
        std::fill_n(hit, row, uint8_t{ 0 });
        const size_t place = d_powers.at(d_count);
        const size_t end = std::min(row, d_erased.size() - place);
        std::fill_n(&d_erased[place], end, uint8_t{ 0 });
        std::fill_n(d_erased.data(), row - end, uint8_t{ 0 });
        d_count += static_cast<int64_t>(row);
        return true;
    }

    void judge(float power)
    {
        if (power > std::max(limit * d_mean.value(), ringing()) && settled()) {
            if (!d_now) {
                d_now = burst{ d_count - static_cast<int64_t>(d_spans.average) + 1,
                               0,
                               d_mean.value(),
                               0 };
                d_sum = 0;
            }
            d_now->last = d_count;
            d_now->peak = std::max(d_now->peak, power);
        }
        if (!d_now) {
            // At first, the mean of all samples.
            d_mean.add(power, settled() ? d_mean.share() : first_share());
        } else {
            d_sum += power;
            // Bursts count only up to the limit. The mean must rise after a step up.
            if (d_mean.value() > 0)
                d_mean.add(std::min(power, limit * d_mean.value()));
            if (d_now->last - d_now->first >=
                static_cast<int64_t>(d_spans.longest + d_spans.average)) {
                d_mean.set(d_sum / static_cast<float>(d_count - d_now->first + 1));
                d_now.reset();
                d_over.reset();
            } else if (d_count - d_now->last >= static_cast<int64_t>(d_spans.hold)) {
                close();
            }
        }
        if (!d_over || d_now || d_count < d_wait_to)
            return;
        if (returned(d_count + 1)) {
            report();
        } else {
            follow(d_powers.mean(d_over->last + 1, d_count + 1));
            d_over.reset();
        }
    }

    // Power that a filter may leave after a strong burst. It does not begin another one.
    float ringing() const
    {
        constexpr float left = 0.01f; // of the power
        return left * (d_now ? d_now->peak : d_over ? d_over->peak : 0);
    }

    float first_share() const
    {
        return std::max(d_mean.share(), 1 / static_cast<float>(d_count + 1));
    }
    bool settled() const { return d_count >= static_cast<int64_t>(d_spans.settling); }

    // The burst is over. It counts if the level returns.
    void close()
    {
        const burst now = *d_now;
        d_now.reset();
        if (d_over && now.first - d_over->last >= static_cast<int64_t>(d_spans.of(2)) &&
            returned(now.first))
            report();
        // A burst right after another is treated as one with it.
        if (!d_over)
            d_over = now;
        d_over->last = now.last;
        d_over->peak = std::max(d_over->peak, now.peak);
        d_wait_to = now.last + static_cast<int64_t>(d_spans.back);
        if (d_over->last - d_over->first > static_cast<int64_t>(d_spans.longest)) {
            follow(d_powers.mean(d_over->first, d_count + 1));
            d_over.reset();
        }
    }

    void report()
    {
        d_found.push_back(*d_over);
        d_over.reset();
    }

    void follow(float power) { d_mean.set(std::max(d_mean.value(), power)); }

    /* True if a millisecond is as weak as before the burst. Looks from one millisecond
     * after the burst to sample \p end. */
    bool returned(int64_t end) const
    {
        constexpr float as_before = 2.5f;
        const auto piece = static_cast<int64_t>(d_spans.of(1));
        for (int64_t at = d_over->last + piece; at + piece <= end; at += piece)
            if (d_powers.mean(at, at + piece) <= as_before * d_over->before)
                return true;
        return false;
    }

    spans d_spans;
    power_ring d_powers;
    running_mean d_mean;
    std::vector<uint8_t> d_erased; // ring, at the places of d_powers
    int64_t d_count = 0;           // samples taken
    int64_t d_erase_to = -1;       // last sample of the tail after a burst
    std::optional<burst> d_now;    // that the latest sample is in
    float d_sum = 0;               // of its powers
    std::vector<burst> d_found;    // by the latest sample
    std::optional<burst> d_over;   // waits for the level to return
    int64_t d_wait_to = 0;         // sample until which it waits
};

} // namespace gr::hf::kernel
