/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::hf::soapy_test {

/*! \brief Air shared by the stations of a test: a file in memory with the samples of
each.
 *
 * A sample belongs to a time of the host's steady clock, counted from when the file was made;
 * that is the hardware time of all devices on it. Every station writes ahead of that time, and
 * reads what the others wrote behind it.
 */
class test_air
{
public:
    static constexpr size_t max_stations = 4;
    static constexpr size_t chunk = 256;   //!< samples that begin together
    static constexpr size_t chunks = 4096; //!< of each station: a ring

    //! Orders of a test to a running station, and its reports. All are counters.
    struct station {
        uint64_t lose;      //!< test: receive this many samples less, with a report
        uint64_t lose_mute; //!< test: the same without a report
        uint64_t gone;      //!< test: not 0: the device is lost
        uint64_t
            slow; //!< test: if not 0, delays samples to transmit by this many ms, once
        uint64_t bursts; //!< begun
        uint64_t late;   //!< bursts whose time had passed
        uint64_t underflows;
        uint64_t sent; //!< samples
        //! The last burst: requested time, ns, and sample at which it was sent.
        int64_t asked_ns;
        int64_t first_sample;
        int64_t end_sample;
        int64_t ready_ns; //!< how long before its time it came, ns
        int64_t worst_ready_ns;
        double worst_error; //!< of the time of a burst, samples
        uint64_t gpio;      //!< pins that are driven
        uint64_t silent;    //!< test: not 0: no samples come, and no error
        struct {
            uint64_t number; //!< chunk of all time, from 1 on; 0: never written
            std::complex<float> samples[chunk];
        } ring[chunks];
    };

    /*! \param path of the file; made if it is not there
     *  \param rate samples/s of all stations on it
     *  \throws std::runtime_error
     */
    test_air(const std::string& path, double rate);
    ~test_air();
    test_air(const test_air&) = delete;
    test_air& operator=(const test_air&) = delete;

    int64_t now_ns() const;
    //! Samples that have begun by now.
    int64_t now_sample() const;
    double rate() const { return d_rate; }

    station& of(size_t k) const;
    //! Station \p k transmits from sample \p at on.
    void transmit(size_t k, int64_t at, const std::complex<float>* x, size_t n);
    //! Samples of station \p from, zeros where it did not transmit.
    void heard_from(size_t from, int64_t at, std::complex<float>* y, size_t n) const;

private:
    struct header {
        uint64_t magic;
        int64_t begin_ns; // of the steady clock
        double rate;
        uint64_t unused;
    };
    header* d_header = nullptr;
    double d_rate;
};

} // namespace gr::hf::soapy_test
