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

/*! \brief A channel learned from the air: the gains of its paths over time.
 *
 * The file is a SigMF recording of complex floats. It has one SigMF channel per path, at
 * the sample rate of the gains. docs/channel.md describes the keys.
 */
struct learned_channel {
    static constexpr size_t max_paths = 64;          //!< in a file
    static constexpr size_t max_octets = 64 << 20;   //!< of the gains in a file
    static constexpr size_t max_description = 65536; //!< octets of the description file

    std::string file;              //!< name as given
    double rate = 1;               //!< gains of a path per second, 0.001 to 1e5
    std::vector<double> delays_ms; //!< of each path, 0 to 1000
    /*! \brief The gains, interleaved by path. The mean power of all paths together is 1.
     */
    std::vector<std::complex<float>> gains;

    size_t paths() const { return delays_ms.size(); }
    size_t length() const
    {
        return gains.size() / delays_ms.size();
    } //!< times, at least 1

    /*! \brief Read a file and scale its power to 1.
     *  \param file one of the two files of a SigMF recording, or their common name
     *  \throws std::invalid_argument that names the file, the fault and what is allowed
     */
    static std::shared_ptr<const learned_channel> read(const std::string& file);
};

/*! \brief The gain of one path of a learned channel at the sample rate, linearly
 *         interpolated.
 *
 * After its end the channel is played backwards, then forwards again, and so on. So it
 * lasts for ever and no gain jumps.
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

    //! The gain at any sample, as from produce(). No state.
    std::complex<float> at(double sample) const;

private:
    std::shared_ptr<const learned_channel> d_channel;
    size_t d_path;
    double d_per_sample; // gains
    uint64_t d_count = 0;
};

} // namespace gr::hf::kernel
