/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "radio/device_time.h"
#include "radio/resampler.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! How transmissions go out to a device that sends bursts at a time that it is told.
struct tx_burst_settings {
    double device_rate = 48000; //!< samples/s, modem_rate to 2 000 000
    double modem_rate = 9600;   //!< samples/s, 9600 to 153600
    //! From a received sample to the one that is transmitted opposite to it, s, 0 to 2: what
    //! the samples need from the device to the modem and back.
    double latency_s = 0.04;
    double lead_s = 0; //!< from the key to the first sample, s, 0 to 2
    double tail_s = 0; //!< from the last sample to the release, s, 0 to 2
    //! The device keys the transmitter as long as a burst lasts: lead and tail belong to it.
    bool keyed_by_burst = false;

    //! \throws std::invalid_argument that names the value and what is allowed
    void check() const;
};

/*! \brief A modem's samples, one for each received one, to bursts with times for a device.
 *
 * Sample k of the modem stands opposite to received sample k. It leaves at the time at which
 * that was taken and a fixed latency (and lead) later, so that turnaround is a figure of the
 * settings and not of the computer's load. Device sample m lies at modem sample m * modem_rate /
 * device_rate on both ways, filters included; every burst begins on one.
 *
 * A burst holds what its first sample sends ahead and its last one leaves behind in the
 * filter, and nothing else. The key goes down with the first sample that comes in, and up when
 * so many samples were received that the last one has left the device and the tail has passed.
 */
class tx_bursts
{
public:
    //! A burst begins or ends with a sample of the output.
    struct mark {
        size_t at;        //!< of the samples appended
        bool begin;       //!< else it is the last one
        uint64_t number;  //!< of the transmission, from 1 on
        device_time time; //!< of that sample
    };
    struct output {
        std::vector<std::complex<float>> samples; //!< at the device's rate
        std::vector<mark> marks;
        std::vector<bool> key; //!< down or up, in order
        //! A transmission that cannot be timed, since the device told no time yet: not sent.
        std::optional<uint64_t> untimed;
    };

    //! \throws std::invalid_argument
    explicit tx_bursts(const tx_burst_settings& settings);

    //! The device's time of received sample 0.
    void set_origin(const device_time& t) { d_origin = t; }
    //! It is not known any more: a transmission under way goes on, none begins.
    void forget_origin() { d_origin.reset(); }
    std::optional<device_time> origin() const { return d_origin; }

    /*! \brief Take \p n samples and append to \p out.
     *  \param first,last samples among them with which a transmission begins and ends; if
     *  both, first is not behind last
     */
    void push(const std::complex<float>* x,
              size_t n,
              std::optional<size_t> first,
              std::optional<size_t> last,
              output& out);

    const tx_burst_settings& settings() const { return d_settings; }
    bool keyed() const { return d_keyed; }
    uint64_t transmissions() const { return d_number; } //!< that have begun
    //! From a received sample to the one opposite to it, s: whole samples of the device.
    double delay_s() const;

private:
    void begin(output& out);
    void send(const std::complex<float>* x, size_t n, output& out);
    void end(output& out);
    void append(const std::complex<float>* x, size_t n, output& out);
    device_time time_of(int64_t device_sample) const;

    const tx_burst_settings d_settings;
    const fraction d_ratio;       // of the device's rate and the modem's
    const int64_t d_delay;        // device samples
    const int64_t d_lead, d_tail; // device samples within a burst
    resampler d_resampler;
    std::vector<std::complex<float>> d_resampled;
    std::optional<device_time> d_origin;
    device_time d_sent_origin; // that of the transmission under way
    uint64_t d_count = 0;      // modem samples
    uint64_t d_number = 0;     // transmissions
    bool d_sending = false, d_keyed = false, d_begun = false;
    int64_t d_next = 0;               // device sample of the next one of the output
    int64_t d_over = 0;               // device sample at which the last burst was over
    std::optional<int64_t> d_release; // device sample, received
};

} // namespace gr::hf::kernel
