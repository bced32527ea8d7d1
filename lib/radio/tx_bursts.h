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

//! Settings for a device that sends timed bursts.
struct tx_burst_settings {
    double device_rate = 48000; //!< samples/s, modem_rate to 2 000 000
    double modem_rate = 9600;   //!< samples/s, 9600 to 153600
    //! Time from a received sample to the transmitted sample paired with it, s, 0 to 2:
    //! the time from the device to the modem and back.
    double latency_s = 0.04;
    double lead_s = 0; //!< from the key to the first sample, s, 0 to 2
    double tail_s = 0; //!< from the last sample to the release, s, 0 to 2
    //! The device keys the transmitter for the length of a burst: lead and tail belong to
    //! the burst.
    bool keyed_by_burst = false;

    //! \throws std::invalid_argument that names the value and what is allowed
    void check() const;
};

/*! \brief Converts a modem's samples, one for each received one, to timed bursts for a
 *         device.
 *
 * Sample k of the modem is paired with received sample k. It is sent a fixed latency
 * (and lead) after the time of that sample. So the settings give the turnaround, not the
 * computer's load. In both directions, device sample m is at modem sample m * modem_rate
 * / device_rate, filters included; every burst starts on such a sample.
 *
 * A burst holds the filter's response from its first sample to its last, and nothing
 * else. The key goes down with the first sample. It goes up after enough received
 * samples that the last one has left the device and the tail has passed.
 */
class tx_bursts
{
public:
    //! A burst starts or ends with a sample of the output.
    struct mark {
        size_t at;        //!< index in the samples appended
        bool begin;       //!< else it is the last one
        uint64_t number;  //!< of the transmission, from 1 on
        device_time time; //!< of that sample
    };
    struct output {
        std::vector<std::complex<float>> samples; //!< at the device's rate
        std::vector<mark> marks;
        std::vector<bool> key; //!< down or up, in order
        //! Transmission not sent, as the device has not reported a time yet.
        std::optional<uint64_t> untimed;
    };

    //! \throws std::invalid_argument
    explicit tx_bursts(const tx_burst_settings& settings);

    //! The device's time of received sample 0.
    void set_origin(const device_time& t) { d_origin = t; }
    //! Its time is unknown: a current transmission continues, but none starts.
    void forget_origin() { d_origin.reset(); }
    std::optional<device_time> origin() const { return d_origin; }

    /*! \brief Take \p n samples and append to \p out.
     *  \param first,last samples among them with which a transmission starts and ends;
     *        if both are given, first is not after last
     */
    void push(const std::complex<float>* x,
              size_t n,
              std::optional<size_t> first,
              std::optional<size_t> last,
              output& out);

    const tx_burst_settings& settings() const { return d_settings; }
    bool keyed() const { return d_keyed; }
    uint64_t transmissions() const { return d_number; } //!< number started
    //! Time from a received sample to the one paired with it, s: whole samples of the
    //! device.
    double delay_s() const;

private:
    void begin(output& out);
    void send(const std::complex<float>* x, size_t n, output& out);
    void end(output& out);
    void append(const std::complex<float>* x, size_t n, output& out);
    device_time time_of(int64_t device_sample) const;

    const tx_burst_settings d_settings;
    const fraction d_ratio;       // device rate over modem rate
    const int64_t d_delay;        // device samples
    const int64_t d_lead, d_tail; // device samples within a burst
    resampler d_resampler;
    std::vector<std::complex<float>> d_resampled;
    std::optional<device_time> d_origin;
    device_time d_sent_origin; // origin for the current transmission
    uint64_t d_count = 0;      // modem samples
    uint64_t d_number = 0;     // transmissions
    bool d_sending = false, d_keyed = false, d_begun = false;
    int64_t d_next = 0;               // device sample of the next output sample
    int64_t d_over = 0;               // device sample after the last burst
    std::optional<int64_t> d_release; // device sample, received
};

} // namespace gr::hf::kernel
