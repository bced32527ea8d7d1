/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*! \file driver.cc
 *  \brief SoapySDR driver for tests: stations of one or several processes on a shared air, in
 *         real time, with hardware time, bursts, reports, and faults that a test injects.
 *
 * Arguments: driver=hftest, air=FILE, station=0..3, rate=samples/s of all stations on it,
 * channel=what hf.channel takes (default clear; ':' stands for '='), level=mean power of what is transmitted (0.01), loop=1: a
 * station hears itself, untimed=1: no hardware time.
 */
#include "channel/channel.h"
#include "driver_air.h"

#include <SoapySDR/Device.hpp>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Registry.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace gr::hf::soapy_test;
using value = std::complex<float>;

constexpr double min_rf = 1e6, max_rf = 60e6, min_gain = 0, max_gain = 60;
// A receiver that reads nothing for this long has lost samples.
constexpr double buffer_s = 0.5;
// A transmitter accepts samples this far ahead of time.
constexpr double ahead_s = 0.5;

std::string
argument(const SoapySDR::Kwargs& args, const char* name, const char* otherwise)
{
    const auto found = args.find(name);
    return found == args.end() ? otherwise : found->second;
}

class device : public SoapySDR::Device
{
public:
    explicit device(const SoapySDR::Kwargs& args)
        : d_args(args),
          d_air(argument(args, "air", ""), std::stod(argument(args, "rate", "48000"))),
          d_own(std::stoul(argument(args, "station", "0"))),
          d_loop(argument(args, "loop", "0") == "1"),
          d_timed(argument(args, "untimed", "0") != "1")
    {
        if (d_own >= test_air::max_stations)
            throw std::runtime_error("station = " + std::to_string(d_own));
        if (gone())
            throw std::runtime_error("it is not there");
        auto words = argument(args, "channel", "clear");
        std::replace(words.begin(), words.end(), ':', '=');
        const auto spec = gr::hf::kernel::channel_spec::parse(words);
        d_channel = std::make_unique<gr::hf::kernel::channel>(
            spec, d_air.rate(), 1 + d_own, std::stod(argument(args, "level", "0.01")));
    }

    std::string getDriverKey() const override { return "hftest"; }
    std::string getHardwareKey() const override { return "hftest"; }
    size_t getNumChannels(const int) const override { return 1; }
    bool getFullDuplex(const int, const size_t) const override { return true; }

    std::vector<std::string> listAntennas(const int direction,
                                          const size_t) const override
    {
        return direction == SOAPY_SDR_RX ? std::vector<std::string>{ "RX", "TX/RX" }
                                         : std::vector<std::string>{ "TX/RX" };
    }
    void setAntenna(const int d, const size_t, const std::string& a) override
    {
        d_antenna[d] = a;
    }
    std::string getAntenna(const int d, const size_t) const override
    {
        return d_antenna[d];
    }
    std::vector<std::string> listGains(const int, const size_t) const override
    {
        return { "ALL" };
    }
    void setGain(const int d, const size_t, const std::string&, const double g) override
    {
        d_gain[d] = g;
    }
    double getGain(const int d, const size_t, const std::string&) const override
    {
        return d_gain[d];
    }
    SoapySDR::Range
    getGainRange(const int, const size_t, const std::string&) const override
    {
        return { min_gain, max_gain };
    }
    SoapySDR::Range getGainRange(const int, const size_t) const override
    {
        return { min_gain, max_gain };
    }
    // Two mixers, so that there is an offset of the first one.
    std::vector<std::string> listFrequencies(const int, const size_t) const override
    {
        return { "RF", "BB" };
    }
    void setFrequency(const int d,
                      const size_t,
                      const std::string& name,
                      const double f,
                      const SoapySDR::Kwargs&) override
    {
        d_frequency[d][name == "BB"] = f;
    }
    double getFrequency(const int d, const size_t, const std::string& name) const override
    {
        return d_frequency[d][name == "BB"];
    }
    SoapySDR::RangeList
    getFrequencyRange(const int, const size_t, const std::string& name) const override
    {
        return { name == "BB" ? SoapySDR::Range(-1e6, 1e6)
                              : SoapySDR::Range(min_rf, max_rf) };
    }
    SoapySDR::RangeList getFrequencyRange(const int, const size_t) const override
    {
        return { SoapySDR::Range(min_rf, max_rf) };
    }
    void setSampleRate(const int, const size_t, const double) override {}
    double getSampleRate(const int, const size_t) const override { return d_air.rate(); }
    std::vector<double> listSampleRates(const int, const size_t) const override
    {
        return { d_air.rate() };
    }
    SoapySDR::RangeList getSampleRateRange(const int, const size_t) const override
    {
        return { SoapySDR::Range(d_air.rate(), d_air.rate()) };
    }
    std::vector<std::string> listClockSources() const override
    {
        return { "internal", "external" };
    }
    void setClockSource(const std::string& s) override { d_clock = s; }
    std::string getClockSource() const override { return d_clock; }
    std::vector<std::string> listTimeSources() const override { return { "none" }; }
    std::string getTimeSource() const override { return "none"; }
    bool hasHardwareTime(const std::string&) const override { return d_timed; }
    long long getHardwareTime(const std::string&) const override
    {
        return d_air.now_ns();
    }
    void setHardwareTime(const long long, const std::string&) override {}

    std::vector<std::string> listGPIOBanks() const override { return { "FP0" }; }
    void writeGPIO(const std::string&, const unsigned v) override
    {
        d_air.of(d_own).gpio = v;
    }

    SoapySDR::Stream* setupStream(const int direction,
                                  const std::string& format,
                                  const std::vector<size_t>&,
                                  const SoapySDR::Kwargs&) override
    {
        if (format != SOAPY_SDR_CF32)
            throw std::runtime_error("format " + format);
        return reinterpret_cast<SoapySDR::Stream*>(&d_streams[direction]);
    }
    void closeStream(SoapySDR::Stream*) override {}
    std::vector<std::string> getStreamFormats(const int, const size_t) const override
    {
        return { SOAPY_SDR_CF32 };
    }
    std::string
    getNativeStreamFormat(const int, const size_t, double& full_scale) const override
    {
        full_scale = 1;
        return SOAPY_SDR_CF32;
    }
    size_t getStreamMTU(SoapySDR::Stream*) const override
    {
        return std::max<size_t>(64, static_cast<size_t>(0.004 * d_air.rate()));
    }
    int
    activateStream(SoapySDR::Stream* s, const int, const long long, const size_t) override
    {
        if (s == stream(SOAPY_SDR_RX))
            d_next = d_air.now_sample();
        d_sending = false;
        return 0;
    }
    int deactivateStream(SoapySDR::Stream*, const int, const long long) override
    {
        return 0;
    }

    int readStream(SoapySDR::Stream*,
                   void* const* buffers,
                   const size_t most,
                   int& flags,
                   long long& ns,
                   const long timeout_us) override
    {
        auto& own = d_air.of(d_own);
        if (gone())
            return SOAPY_SDR_STREAM_ERROR;
        if (own.silent != 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(timeout_us));
            return SOAPY_SDR_TIMEOUT;
        }
        if (const uint64_t mute = std::exchange(own.lose_mute, 0))
            skip(static_cast<int64_t>(mute));
        if (const uint64_t lose = std::exchange(own.lose, 0)) {
            skip(static_cast<int64_t>(lose));
            return SOAPY_SDR_OVERFLOW;
        }
        const auto behind = d_air.now_sample() - d_next;
        if (static_cast<double>(behind) > buffer_s * d_air.rate()) {
            skip(behind);
            return SOAPY_SDR_OVERFLOW;
        }
        const auto n =
            static_cast<int64_t>(std::min(most, getStreamMTU(stream(SOAPY_SDR_RX))));
        if (!wait_for(d_next + n, timeout_us))
            return SOAPY_SDR_TIMEOUT;
        auto* y = static_cast<value*>(buffers[0]);
        receive(y, static_cast<size_t>(n));
        flags = 0;
        ns = time_of(d_next);
        if (d_timed)
            flags |= SOAPY_SDR_HAS_TIME;
        d_next += n;
        return static_cast<int>(n);
    }

    int writeStream(SoapySDR::Stream*,
                    const void* const* buffers,
                    const size_t n,
                    int& flags,
                    const long long ns,
                    const long timeout_us) override
    {
        auto& own = d_air.of(d_own);
        if (gone())
            return SOAPY_SDR_STREAM_ERROR;
        if (const uint64_t ms = std::exchange(own.slow, 0))
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        // UHD gives the time of every packet of a burst, not only of the first.
        const bool timed = (flags & SOAPY_SDR_HAS_TIME) != 0;
        if (timed && !(d_sending && sample_at(ns) == d_at)) {
            begin_burst(ns);
        } else if (!d_sending) { // a burst that may begin when it likes
            begin_burst(time_of(d_air.now_sample()) + 20000000);
        } else if (d_dropping == none && d_at < d_air.now_sample()) {
            ++(timed ? own.late : own.underflows);
            report(timed ? SOAPY_SDR_TIME_ERROR : SOAPY_SDR_UNDERFLOW, time_of(d_at));
            if (timed) // to the end of the burst
                d_dropping = late;
            else
                d_at = d_air.now_sample() + static_cast<int64_t>(0.002 * d_air.rate());
        }
        const auto* x = static_cast<const value*>(buffers[0]);
        if (d_dropping == none) {
            if (!wait_for(d_at - static_cast<int64_t>(ahead_s * d_air.rate()),
                          timeout_us))
                return SOAPY_SDR_TIMEOUT;
            d_air.transmit(d_own, d_at, x, n);
            own.sent += n;
        }
        d_at += static_cast<int64_t>(n);
        own.end_sample = d_at;
        if (flags & SOAPY_SDR_END_BURST)
            d_sending = false;
        return static_cast<int>(n);
    }

    int readStreamStatus(SoapySDR::Stream* s,
                         size_t& channels,
                         int& flags,
                         long long& ns,
                         const long timeout_us) override
    {
        if (s != stream(SOAPY_SDR_TX))
            return SOAPY_SDR_NOT_SUPPORTED;
        std::unique_lock<std::mutex> lock(d_mutex);
        if (!d_told.wait_for(lock, std::chrono::microseconds(timeout_us), [this] {
                return !d_reports.empty();
            }))
            return SOAPY_SDR_TIMEOUT;
        const auto [code, time] = d_reports.front();
        d_reports.pop_front();
        channels = 1;
        flags = SOAPY_SDR_HAS_TIME;
        ns = time;
        return code;
    }

private:
    // Removed for good. A later device is another one.
    bool gone() { return d_gone = d_gone || d_air.of(d_own).gone != 0; }

    SoapySDR::Stream* stream(int direction) const
    {
        return reinterpret_cast<SoapySDR::Stream*>(
            const_cast<char*>(&d_streams[direction]));
    }

    long long time_of(int64_t sample) const
    {
        return std::llround(static_cast<long double>(sample) * 1e9L / d_air.rate());
    }

    int64_t sample_at(long long ns) const
    {
        return std::llround(static_cast<long double>(ns) * d_air.rate() / 1e9L);
    }

    void begin_burst(long long ns)
    {
        auto& own = d_air.of(d_own);
        const long double exact = static_cast<long double>(ns) * d_air.rate() / 1e9L;
        d_at = std::llround(exact);
        d_sending = true;
        ++own.bursts;
        own.asked_ns = ns;
        own.first_sample = d_at;
        own.ready_ns = ns - d_air.now_ns();
        own.worst_ready_ns =
            own.bursts == 1 ? own.ready_ns : std::min(own.worst_ready_ns, own.ready_ns);
        own.worst_error = std::max(
            own.worst_error,
            std::abs(static_cast<double>(exact - static_cast<long double>(d_at))));
        // Late samples are dropped, up to the end of their burst.
        d_dropping = own.ready_ns < 0 ? late : none;
        if (d_dropping == late) {
            ++own.late;
            report(SOAPY_SDR_TIME_ERROR, ns);
        }
    }

    void report(int code, long long ns)
    {
        std::lock_guard<std::mutex> lock(d_mutex);
        if (d_reports.size() < 1000)
            d_reports.emplace_back(code, ns);
        d_told.notify_all();
    }

    // Until a sample has begun.
    bool wait_for(int64_t sample, long timeout_us) const
    {
        const auto ns = time_of(sample) - d_air.now_ns();
        if (ns <= 0)
            return true;
        const bool comes = ns <= 1000LL * timeout_us;
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(comes ? ns : 1000LL * timeout_us));
        return comes;
    }

    // Samples pass the channel, heard or not: the air does not stop.
    void skip(int64_t n)
    {
        std::vector<value> unheard(4096);
        while (n > 0) {
            const int64_t part = std::min<int64_t>(n, 4096);
            receive(unheard.data(), static_cast<size_t>(part));
            d_next += part;
            n -= part;
        }
    }

    // Stations 0 and 1 hear each other, and so do 2 and 3.
    void receive(value* y, size_t n)
    {
        d_air.heard_from(d_loop ? d_own : d_own ^ 1, d_next, y, n);
        d_channel->process(y, y, n);
    }

    const SoapySDR::Kwargs d_args;
    test_air d_air;
    const size_t d_own;
    const bool d_loop, d_timed;
    std::atomic<bool> d_gone{ false };
    std::unique_ptr<gr::hf::kernel::channel> d_channel; // to this receiver
    std::string d_antenna[2], d_clock = "internal";
    double d_gain[2] = {}, d_frequency[2][2] = {};
    char d_streams[2] = {};
    int64_t d_next = 0; // received
    int64_t d_at = 0;   // transmitted
    bool d_sending = false;
    enum { none, late } d_dropping = none;
    std::mutex d_mutex;
    std::condition_variable d_told;
    std::deque<std::pair<int, long long>> d_reports;
};

// Only for requests that name this driver, or ask for all.
std::vector<SoapySDR::Kwargs> find(const SoapySDR::Kwargs& args)
{
    auto found = args;
    const char* offered = std::getenv("HFTEST_AIR"); // in a list of all devices
    if (args.count("air") == 0 && offered)
        found["air"] = offered;
    if (found.count("air") == 0)
        return {};
    found["driver"] = "hftest";
    found["label"] = "test air, station " + argument(args, "station", "0");
    return { found };
}

SoapySDR::Device* make(const SoapySDR::Kwargs& args) { return new device(args); }

const SoapySDR::Registry registry("hftest", &find, &make, SOAPY_SDR_ABI_VERSION);

} // namespace
