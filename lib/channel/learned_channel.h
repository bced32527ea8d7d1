/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf::kernel {

/*! \brief A channel that was learned from the air: the gains of its paths over time.
 *
 * As a file: a SigMF recording of complex floats, a SigMF channel for each path, whose sample rate
 * is that of the gains; docs/channel.md has the keys.
 */
struct learned_channel {
    static constexpr size_t max_paths = 64;          //!< of a file
    static constexpr size_t max_octets = 64 << 20;   //!< of the gains in a file
    static constexpr size_t max_description = 65536; //!< octets of its other half

    std::string file;              //!< as it was named
    double rate = 1;               //!< gains of a path per second, 0.001 to 1e5
    std::vector<double> delays_ms; //!< of each path, 0 to 1000
    /*! \brief The gains, those of one time next to each other; the mean power of all paths
     *         together is 1.
     */
    std::vector<std::complex<float>> gains;

    size_t paths() const { return delays_ms.size(); }
    size_t length() const
    {
        return gains.size() / delays_ms.size();
    } //!< times, at least 1

    /*! \brief Read a file and scale its power to 1.
     *  \param file one of the two of a SigMF recording, or the name both have in common
     *  \throws std::invalid_argument that names the file, what is wrong with it and what is allowed
     */
    static std::shared_ptr<const learned_channel> read(const std::string& file);
};

/*! \brief The gain of one path of a learned channel at the sample rate: linearly interpolated.
 *
 * Behind its end the channel is played backwards, then forwards again, and so on: it goes on
 * for ever, and nowhere does a gain jump.
 */
class learned_tap
{
public:
    //! \param sample_rate samples/s
    learned_tap(std::shared_ptr<const learned_channel> channel,
                size_t path,
                double sample_rate);

    //! The gain at the next \p n samples.
    void produce(std::complex<float>* out, size_t n);

    //! The gain at any sample, as produce() gives it. No state.
    std::complex<float> at(double sample) const;

private:
    std::shared_ptr<const learned_channel> d_channel;
    size_t d_path;
    double d_per_sample; // gains
    uint64_t d_count = 0;
};

} // namespace gr::hf::kernel
