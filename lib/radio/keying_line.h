/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! Keying of a transmitter.
struct keying_settings {
    double sample_rate = 9600; //!< of the line, samples/s
    double lead_s = 0;         //!< from the key to the first sample on the air, 0 to 2
    double tail_s = 0;         //!< from the last sample on the air to the release, 0 to 2
    double device_delay_s =
        0; //!< least delay from the line's output to the air, 0 to 2; used until
           //!< device_delay() is called
    double device_buffer_s =
        0; //!< largest delay there, device_delay_s to 4; used until the device reports it

    double latency_s = 0; //!< from the device to the air, 0 to 2

    //! \throws std::invalid_argument that names the value and what is allowed
    void check() const;
};

/*! \brief Delay line between a modem and a transmitter that has to be keyed.
 *
 * Passes a stream of samples, zeros outside of transmissions. The key goes down when the
 * first sample of a transmission arrives. The line delays that sample so that line and
 * device together take the lead time, or the device's delay alone if that is longer. The
 * key goes up after enough output samples that the last one has left the device, plus
 * the tail. It counts samples and uses no clock, so a device that stalls and then
 * continues is still keyed. Another transmission meanwhile keeps the key down.
 *
 * Zeros may be added or left out between transmissions, but not within, to keep a device
 * with its own clock fed.
 */
class keying_line
{
public:
    //! A change of the key.
    struct event {
        bool down;
        uint64_t sample; //!< output samples before the change
    };

    //! \throws std::invalid_argument
    explicit keying_line(const keying_settings& settings);

    /*! \brief Take \p n samples and append the output.
     *  \param x samples of the modem
     *  \param n number of samples
     *  \param first,last samples among them with which a transmission starts and ends
     *  \param out is appended to
     *  \returns changes of the key, in order
     */
    std::vector<event> push(const std::complex<float>* x,
                            size_t n,
                            std::optional<size_t> first,
                            std::optional<size_t> last,
                            std::vector<std::complex<float>>& out);

    /*! \brief From the next push on, add \p samples zeros between transmissions
     *         (negative: leave out). Replaces the rest of an earlier call.
     */
    void trim(int64_t samples) { d_trim = samples; }

    /*! \brief Samples held by the device, s. The key waits for them to be sent; the
     *         largest value since the end of the transmission counts.
     */
    void device_holds(double seconds);

    /*! \brief Current delay from the line's output to the air, s; less than 0 counts as
     *         0.
     *  \details The line adds what the lead lacks, for a transmission that starts while
     *  no earlier one is in the line.
     */
    void device_delay(double seconds) { d_delay_s = seconds; }

    bool keyed() const { return d_keyed; }
    //! True if no transmission is in the line or the device.
    bool idle() const { return !d_keyed && !d_transmitting; }
    /*! \brief Zeros inserted since the start, by trim() or because the line grew. They
     *         delay all later samples.
     */
    int64_t added() const { return d_added; }
    //! Zeros removed since the start, from the input or from the line.
    int64_t left_out() const { return d_left_out; }
    //! Samples of delay in the line.
    size_t delay() const { return d_line.size(); }

private:
    void pass(std::complex<float> x, std::vector<std::complex<float>>& out);

    size_t line_samples() const;
    void resize();

    std::deque<std::complex<float>> d_line;
    double d_rate, d_lead_s, d_delay_s;
    uint64_t d_held;                   // samples in the device
    uint64_t d_tail;                   // samples, latency included
    uint64_t d_out = 0;                // output samples
    std::optional<uint64_t> d_release; // count of output samples at which the key goes up
    bool d_keyed = false, d_transmitting = false;
    int64_t d_trim = 0, d_added = 0, d_left_out = 0;
};

} // namespace gr::hf::kernel
