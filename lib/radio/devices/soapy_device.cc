/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/devices/soapy_device.h"

#include "radio/audio_rates.h"

#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Logger.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gr::hf {
namespace {

// Largest rounding error of a rate: a sample in a day at 1 MHz. A larger error means
// another rate, and times would drift away from the count of samples.
constexpr double same_rate = 1e-11;
// Time for a device to change its frequency.
constexpr std::chrono::seconds patience{ 5 };
// A synthesiser's step; the receiver corrects the rest.
constexpr double same_frequency_hz = 5;

const std::string by_uhd = "driver=uhd,";

std::string text(double x) { return kernel::audio_rates::text(x); }

std::string list(const std::vector<std::string>& names)
{
    std::string all;
    for (const auto& n : names)
        all += (all.empty() ? "" : ", ") + n;
    return all.empty() ? "none" : all;
}

std::string list(const SoapySDR::RangeList& ranges)
{
    std::string all;
    for (const auto& r : ranges)
        all += (all.empty() ? "" : ", ") + text(r.minimum()) +
               (r.maximum() > r.minimum() ? " to " + text(r.maximum()) : "");
    return all.empty() ? "unknown" : all;
}

bool within(double x, const SoapySDR::RangeList& ranges)
{
    return ranges.empty() ||
           std::any_of(
               ranges.begin(),
               ranges.end(),
               [x](const auto& r) { return x >= r.minimum() && x <= r.maximum(); });
}

} // namespace

//! State shared by objects with the same arguments.
struct soapy_device::sharing {
    std::mutex mutex;
    uint64_t generation = 1; // increased with each loss
    size_t holders = 0;      // of this generation
    size_t stale = 0;        // of earlier generations
    std::mutex making;
    std::weak_ptr<SoapySDR::Device> uhd; // SoapySDR keeps its own table
};

std::shared_ptr<soapy_device::sharing> soapy_device::sharing_of(const std::string& args)
{
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<sharing>> all;
    std::lock_guard<std::mutex> lock(mutex);
    auto found = all[args].lock();
    if (!found)
        all[args] = found = std::make_shared<sharing>();
    return found;
}

soapy_device::soapy_device(int direction, const soapy_settings& settings)
    : d_direction(direction), d_settings(settings),
      d_uhd(settings.args.compare(0, by_uhd.size(), by_uhd) == 0),
      d_args(d_uhd ? settings.args.substr(by_uhd.size()) : settings.args),
      d_sharing(sharing_of(settings.args))
{
    // Without a driver's name every driver would search for devices, some of them on the
    // network.
    const auto args = SoapySDR::KwargsFromString(settings.args);
    if (const auto driver = args.find("driver");
        driver == args.end() || driver->second.empty())
        throw std::invalid_argument("args = '" + settings.args +
                                    "': must name a driver, \"driver=NAME\"; "
                                    "hf radio list prints the devices");
    open();
}

soapy_device::~soapy_device() { release(); }

std::shared_ptr<SoapySDR::Device> soapy_device::make() const
{
    if (!d_uhd)
        return { SoapySDR::Device::make(d_args), [](SoapySDR::Device* d) {
                    try {
                        SoapySDR::Device::unmake(d);
                    } catch (const std::exception& error) {
                        SoapySDR::log(SOAPY_SDR_WARNING,
                                      std::string("closing: ") + error.what());
                    }
                } };
    std::lock_guard<std::mutex> lock(d_sharing->making);
    auto device = d_sharing->uhd.lock();
    if (!device)
        d_sharing->uhd = device = open_uhd(d_args);
    return device;
}

void soapy_device::open()
{
    try {
        d_device = make();
    } catch (const std::exception& error) {
        std::string why = error.what();
        std::replace(why.begin(), why.end(), '\n', ' ');
        throw std::runtime_error("args = '" + d_args +
                                 "': " + (d_uhd ? "UHD" : "SoapySDR") +
                                 " cannot open it: " + why);
    }
    {
        std::lock_guard<std::mutex> lock(d_sharing->mutex);
        d_generation = d_sharing->generation;
        ++d_sharing->holders;
    }
    try {
        configure();
        d_timed = d_device->hasHardwareTime();
    } catch (const std::invalid_argument&) {
        release();
        throw;
    } catch (const std::exception& error) {
        release();
        throw std::runtime_error("args = '" + d_args +
                                 "': the device cannot be set: " + error.what());
    }
}

void soapy_device::lose()
{
    std::lock_guard<std::mutex> lock(d_sharing->mutex);
    if (d_generation != d_sharing->generation)
        return; // another object was faster
    ++d_sharing->generation;
    d_sharing->stale += std::exchange(d_sharing->holders, 0);
}

bool soapy_device::stale() const
{
    std::lock_guard<std::mutex> lock(d_sharing->mutex);
    return d_device && d_generation != d_sharing->generation;
}

void soapy_device::release() noexcept
{
    if (!d_device)
        return;
    close_stream();
    d_device.reset();
    std::lock_guard<std::mutex> lock(d_sharing->mutex);
    --(d_generation == d_sharing->generation ? d_sharing->holders : d_sharing->stale);
}

bool soapy_device::reopen()
{
    {
        std::lock_guard<std::mutex> lock(d_sharing->mutex);
        if (d_sharing->stale > 0)
            return false;
    }
    try {
        open();
        open_stream();
    } catch (const std::exception&) {
        release();
    }
    return d_device != nullptr;
}

void soapy_device::refuse(const std::string& value, const std::string& allowed) const
{
    throw std::invalid_argument(
        value + ": allowed " +
        (d_direction == SOAPY_SDR_RX ? "to receive" : "to transmit") + " with args = '" +
        d_args + "' are " + allowed);
}

void soapy_device::configure()
{
    const auto& s = d_settings;
    auto& dev = *d_device;
    const size_t channels = dev.getNumChannels(d_direction);
    if (s.channel < 0 || static_cast<size_t>(s.channel) >= channels)
        refuse("channel = " + std::to_string(s.channel),
               channels == 0 ? "none" : "0 to " + std::to_string(channels - 1));
    const auto channel = static_cast<size_t>(s.channel);

    const auto one_of = [this](const char* name,
                               const std::string& value,
                               const std::vector<std::string>& names) {
        if (value.empty())
            return false;
        if (std::find(names.begin(), names.end(), value) == names.end())
            refuse(std::string(name) + " = '" + value + "'", list(names));
        return true;
    };
    if (one_of("clock_source", s.clock_source, dev.listClockSources()))
        dev.setClockSource(s.clock_source);
    if (one_of("time_source", s.time_source, dev.listTimeSources()))
        dev.setTimeSource(s.time_source);
    if (one_of("antenna", s.antenna, dev.listAntennas(d_direction, channel)))
        dev.setAntenna(d_direction, channel, s.antenna);

    const auto rates = dev.getSampleRateRange(d_direction, channel);
    if (!within(s.sample_rate, rates))
        refuse("sample_rate = " + text(s.sample_rate), list(rates) + " samples/s");
    dev.setSampleRate(d_direction, channel, s.sample_rate);
    const double rate = dev.getSampleRate(d_direction, channel);
    if (!(std::abs(rate / s.sample_rate - 1) < same_rate))
        refuse("sample_rate = " + text(s.sample_rate),
               text(rate) + " samples/s (nearest), of " + list(rates));

    tune();

    const auto gains = dev.getGainRange(d_direction, channel);
    if (!(s.gain_db >= gains.minimum() && s.gain_db <= gains.maximum()))
        refuse("gain_db = " + text(s.gain_db),
               text(gains.minimum()) + " to " + text(gains.maximum()) + " dB");
    if (dev.hasGainMode(d_direction, channel))
        dev.setGainMode(d_direction, channel, false);
    dev.setGain(d_direction, channel, s.gain_db);
    if (s.atr)
        set_atr_pin(dev, *s.atr);
}

void soapy_device::set_atr(const atr_pin& pin)
{
    if (d_device)
        set_atr_pin(*d_device, pin);
    d_settings.atr = pin;
}

void soapy_device::tune()
{
    const auto& s = d_settings;
    auto& dev = *d_device;
    const auto channel = static_cast<size_t>(s.channel);
    const auto frequencies = dev.getFrequencyRange(d_direction, channel);
    if (!within(s.frequency_hz, frequencies))
        refuse("frequency_hz = " + text(s.frequency_hz), list(frequencies) + " Hz");
    SoapySDR::Kwargs tuning;
    if (s.lo_offset_hz != 0)
        tuning["OFFSET"] = std::to_string(s.lo_offset_hz);
    dev.setFrequency(d_direction, channel, s.frequency_hz, tuning);
    const double frequency = dev.getFrequency(d_direction, channel);
    if (!(std::abs(frequency - s.frequency_hz) <= same_frequency_hz))
        throw std::invalid_argument(
            "frequency_hz = " + text(s.frequency_hz) +
            ", lo_offset_hz = " + text(s.lo_offset_hz) + ": the device went to " +
            text(frequency) + " Hz; a device with a single mixer needs lo_offset_hz = 0");
}

void soapy_device::set_frequency(double hz)
{
    const double before = std::exchange(d_settings.frequency_hz, hz);
    if (!d_device || stale())
        return; // set when it is opened again
    try {
        tune();
    } catch (const std::exception& error) {
        d_settings.frequency_hz = before;
        try {
            tune();
        } catch (const std::exception&) { // the first error counts
        }
        throw std::invalid_argument(error.what());
    }
}

void retuning::ask(double hz)
{
    std::unique_lock<std::mutex> lock(d_mutex);
    d_error = nullptr;
    d_hz = hz;
    if (!d_served.wait_for(lock, patience, [this] { return !d_hz; })) {
        d_hz.reset();
        throw std::runtime_error("the device is not in use: its flowgraph does not run");
    }
    if (d_error)
        std::rethrow_exception(d_error);
}

void retuning::serve(soapy_device& device)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    if (!d_hz)
        return;
    try {
        device.set_frequency(*d_hz);
    } catch (...) {
        d_error = std::current_exception();
    }
    d_hz.reset();
    d_served.notify_all();
}

void soapy_device::open_stream()
{
    try {
        d_stream = d_device->setupStream(
            d_direction, SOAPY_SDR_CF32, { static_cast<size_t>(d_settings.channel) });
        const int code = d_device->activateStream(d_stream);
        if (code != 0)
            throw std::runtime_error("code " + std::to_string(code));
    } catch (const std::exception& error) {
        close_stream();
        throw std::runtime_error("args = '" + d_args +
                                 "': the stream cannot be opened: " + error.what());
    }
}

void soapy_device::close_stream() noexcept
{
    if (!d_stream)
        return;
    try {
        d_device->deactivateStream(d_stream);
        d_device->closeStream(d_stream);
    } catch (const std::exception& error) {
        SoapySDR::log(SOAPY_SDR_WARNING, std::string("closing: ") + error.what());
    }
    d_stream = nullptr;
}

} // namespace gr::hf
