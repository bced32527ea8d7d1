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

//! How a transmitter is keyed.
struct keying_settings {
    double sample_rate = 9600; //!< of the line, samples/s
    double lead_s = 0;         //!< from the key to the first sample on the air, 0 to 2
    double tail_s = 0;         //!< from the last sample on the air to the release, 0 to 2
    double device_delay_s =
        0; //!< from the line's output to the air at the least, 0 to 2,
           //!< as long as device_delay() does not say
    double device_buffer_s =
        0; //!< the most that it may take, device_delay_s to 4, as long as
           //!< the device does not tell

    double latency_s = 0; //!< from the device to the air, 0 to 2

    //! \throws std::invalid_argument that names the value and what is allowed
    void check() const;
};

/*! \brief What stands between a modem and a transmitter that has to be keyed.
 *
 * A stream of samples passes through, zeros where nothing is transmitted. The key goes down
 * when the first sample of a transmission comes in; that sample goes out so much later that the
 * device's delay and the line's together are the lead, or the device's alone if it is longer. The key goes up when so many samples
 * have gone out behind the last one that this has left the device, and the tail besides: by
 * count of samples, never by a clock, so that a device that stalls is still keyed when it goes
 * on. A transmission that begins meanwhile keeps the key down.
 *
 * Between transmissions, and only there, zeros may be added or left out, which is how a device
 * with a clock of its own is kept fed.
 */
class keying_line
{
public:
    //! The key is to go down or up.
    struct event {
        bool down;
        uint64_t sample; //!< output samples that had gone out then
    };

    //! \throws std::invalid_argument
    explicit keying_line(const keying_settings& settings);

    /*! \brief Take \p n samples and append what goes out.
     *  \param x samples of the modem
     *  \param n how many
     *  \param first,last samples among them with which a transmission begins and ends
     *  \param out is appended to
     *  \returns what happens to the key, in order
     */
    std::vector<event> push(const std::complex<float>* x,
                            size_t n,
                            std::optional<size_t> first,
                            std::optional<size_t> last,
                            std::vector<std::complex<float>>& out);

    /*! \brief From the next push on add (or, negative, leave out) so many zeros between
     *         transmissions; takes the place of what an earlier call has left to do.
     */
    void trim(int64_t samples) { d_trim = samples; }

    /*! \brief The device tells what it holds, s, which is waited for before the key goes up:
     *         the most since the end of the transmission counts.
     */
    void device_holds(double seconds);

    /*! \brief From the line's output to the air it takes so long now, s; less than 0 is 0.
     *  \details The line makes up for what the lead lacks: for a transmission that begins while
     *  nothing of an earlier one is in the line.
     */
    void device_delay(double seconds) { d_delay_s = seconds; }

    bool keyed() const { return d_keyed; }
    //! Nothing of a transmission is in the line or the device.
    bool idle() const { return !d_keyed && !d_transmitting; }
    /*! \brief Zeros that were put between samples that came in, since the beginning: to trim, or
     *         because the line grew. What comes later goes out so much later.
     */
    int64_t added() const { return d_added; }
    //! Zeros that came in and did not go out, or were taken out of the line, since the beginning.
    int64_t left_out() const { return d_left_out; }
    //! Samples that each sample waits in the line.
    size_t delay() const { return d_line.size(); }

private:
    void pass(std::complex<float> x, std::vector<std::complex<float>>& out);

    size_t line_samples() const;
    void resize();

    std::deque<std::complex<float>> d_line;
    double d_rate, d_lead_s, d_delay_s;
    uint64_t d_held;                   // samples in the device
    uint64_t d_tail;                   // samples, latency included
    uint64_t d_out = 0;                // samples that went out
    std::optional<uint64_t> d_release; // when so many have gone out
    bool d_keyed = false, d_transmitting = false;
    int64_t d_trim = 0, d_added = 0, d_left_out = 0;
};

} // namespace gr::hf::kernel
