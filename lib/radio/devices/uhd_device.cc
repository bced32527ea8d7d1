/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/devices/uhd_device.h"

#include <SoapySDR/Errors.hpp>
#include <SoapySDR/Formats.hpp>
#include <uhd/exception.hpp>
#include <uhd/usrp/multi_usrp.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

namespace gr::hf {
namespace {

double seconds(long timeout_us) { return 1e-6 * static_cast<double>(timeout_us); }

uhd::time_spec_t time_of(long long ns)
{
    const long long second = 1000000000;
    return { static_cast<int64_t>(ns / second), static_cast<double>(ns % second) * 1e-9 };
}

long long ns_of(const uhd::time_spec_t& t)
{
    return t.get_full_secs() * 1000000000LL + std::llround(t.get_frac_secs() * 1e9);
}

SoapySDR::RangeList list(const uhd::meta_range_t& ranges)
{
    SoapySDR::RangeList all;
    for (const auto& r : ranges)
        all.emplace_back(r.start(), r.stop());
    return all;
}

class uhd_device : public SoapySDR::Device
{
public:
    explicit uhd_device(const uhd::device_addr_t& args)
        : d_usrp(uhd::usrp::multi_usrp::make(args))
    {
    }

    //! It has failed, and must not be used any more.
    bool broken() const { return d_broken; }

    std::string getDriverKey() const override { return "uhd"; }
    size_t getNumChannels(const int d) const override
    {
        return receives(d) ? d_usrp->get_rx_num_channels()
                           : d_usrp->get_tx_num_channels();
    }
    std::vector<std::string> listAntennas(const int d, const size_t c) const override
    {
        return receives(d) ? d_usrp->get_rx_antennas(c) : d_usrp->get_tx_antennas(c);
    }
    void setAntenna(const int d, const size_t c, const std::string& name) override
    {
        receives(d) ? d_usrp->set_rx_antenna(name, c) : d_usrp->set_tx_antenna(name, c);
    }
    bool hasGainMode(const int, const size_t) const override { return false; }
    SoapySDR::Range getGainRange(const int d, const size_t c) const override
    {
        const auto r =
            receives(d) ? d_usrp->get_rx_gain_range(c) : d_usrp->get_tx_gain_range(c);
        return { r.start(), r.stop() };
    }
    void setGain(const int d, const size_t c, const double db) override
    {
        receives(d) ? d_usrp->set_rx_gain(db, c) : d_usrp->set_tx_gain(db, c);
    }
    SoapySDR::RangeList getFrequencyRange(const int d, const size_t c) const override
    {
        return list(receives(d) ? d_usrp->get_rx_freq_range(c)
                                : d_usrp->get_tx_freq_range(c));
    }
    void setFrequency(const int d,
                      const size_t c,
                      const double hz,
                      const SoapySDR::Kwargs& tuning) override
    {
        const auto offset = tuning.find("OFFSET");
        const auto request = offset == tuning.end()
                                 ? uhd::tune_request_t(hz)
                                 : uhd::tune_request_t(hz, std::stod(offset->second));
        receives(d) ? d_usrp->set_rx_freq(request, c) : d_usrp->set_tx_freq(request, c);
    }
    double getFrequency(const int d, const size_t c) const override
    {
        return receives(d) ? d_usrp->get_rx_freq(c) : d_usrp->get_tx_freq(c);
    }
    // The whole range: many rate lists have values that are not exact in decimals.
    SoapySDR::RangeList getSampleRateRange(const int d, const size_t c) const override
    {
        const auto r = receives(d) ? d_usrp->get_rx_rates(c) : d_usrp->get_tx_rates(c);
        return { SoapySDR::Range(r.start(), r.stop()) };
    }
    void setSampleRate(const int d, const size_t c, const double rate) override
    {
        receives(d) ? d_usrp->set_rx_rate(rate, c) : d_usrp->set_tx_rate(rate, c);
    }
    double getSampleRate(const int d, const size_t c) const override
    {
        return receives(d) ? d_usrp->get_rx_rate(c) : d_usrp->get_tx_rate(c);
    }
    std::vector<std::string> listClockSources() const override
    {
        return d_usrp->get_clock_sources(0);
    }
    void setClockSource(const std::string& s) override { d_usrp->set_clock_source(s); }
    std::vector<std::string> listTimeSources() const override
    {
        return d_usrp->get_time_sources(0);
    }
    void setTimeSource(const std::string& s) override { d_usrp->set_time_source(s); }
    bool hasHardwareTime(const std::string&) const override { return true; }

    SoapySDR::Stream* setupStream(const int d,
                                  const std::string&,
                                  const std::vector<size_t>& channels,
                                  const SoapySDR::Kwargs&) override
    {
        uhd::stream_args_t args("fc32");
        args.channels = channels;
        if (receives(d))
            d_rx = d_usrp->get_rx_stream(args);
        else {
            d_tx = d_usrp->get_tx_stream(args);
            d_tx_rate = d_usrp->get_tx_rate(channels.at(0));
        }
        return reinterpret_cast<SoapySDR::Stream*>(&d_names[receives(d)]);
    }

    int
    activateStream(SoapySDR::Stream* s, const int, const long long, const size_t) override
    {
        if (receives(s))
            d_rx->issue_stream_cmd(uhd::stream_cmd_t::STREAM_MODE_START_CONTINUOUS);
        d_sending = false;
        return 0;
    }

    int deactivateStream(SoapySDR::Stream* s, const int, const long long) override
    {
        if (receives(s) && !d_broken)
            d_rx->issue_stream_cmd(uhd::stream_cmd_t::STREAM_MODE_STOP_CONTINUOUS);
        return 0;
    }

    void closeStream(SoapySDR::Stream* s) override
    {
        if (d_broken)
            return;
        if (receives(s))
            d_rx.reset();
        else
            d_tx.reset();
    }

    int readStream(SoapySDR::Stream*,
                   void* const* buffers,
                   const size_t most,
                   int& flags,
                   long long& ns,
                   const long timeout_us) override
    {
        return guarded([&] {
            uhd::rx_metadata_t about;
            // One packet: do not wait for more.
            const size_t got =
                d_rx->recv(buffers[0], most, about, seconds(timeout_us), true);
            flags = 0;
            if (got > 0) {
                if (about.has_time_spec && about.fragment_offset == 0) {
                    flags = SOAPY_SDR_HAS_TIME;
                    ns = ns_of(about.time_spec);
                }
                return static_cast<int>(got);
            }
            switch (about.error_code) {
            case uhd::rx_metadata_t::ERROR_CODE_NONE:
            case uhd::rx_metadata_t::ERROR_CODE_TIMEOUT:
                return SOAPY_SDR_TIMEOUT;
            case uhd::rx_metadata_t::ERROR_CODE_OVERFLOW:
                return SOAPY_SDR_OVERFLOW;
            case uhd::rx_metadata_t::ERROR_CODE_ALIGNMENT:
            case uhd::rx_metadata_t::ERROR_CODE_BAD_PACKET:
                return SOAPY_SDR_CORRUPTION;
            default: // the stream ended without a request
                d_broken = true;
                return SOAPY_SDR_STREAM_ERROR;
            }
        });
    }

    int writeStream(SoapySDR::Stream*,
                    const void* const* buffers,
                    const size_t n,
                    int& flags,
                    const long long ns,
                    const long timeout_us) override
    {
        return guarded([&] {
            if (flags & SOAPY_SDR_HAS_TIME) {
                d_begin = time_of(ns);
                d_sent = 0;
            } else if (!d_sending) {
                d_begin.reset();
            }
            uhd::tx_metadata_t about;
            about.start_of_burst = !d_sending;
            // Every packet has a time: after a late packet the device would send untimed
            // ones at once.
            about.has_time_spec = d_begin.has_value();
            if (d_begin)
                about.time_spec =
                    *d_begin + uhd::time_spec_t::from_ticks(d_sent, d_tx_rate);
            about.end_of_burst = (flags & SOAPY_SDR_END_BURST) != 0;
            const size_t sent = d_tx->send(buffers[0], n, about, seconds(timeout_us));
            if (sent == 0)
                return SOAPY_SDR_TIMEOUT;
            d_sent += static_cast<long long>(sent);
            d_sending = !(about.end_of_burst && sent == n);
            return static_cast<int>(sent);
        });
    }

    int readStreamStatus(SoapySDR::Stream*,
                         size_t& channels,
                         int& flags,
                         long long& ns,
                         const long timeout_us) override
    {
        return guarded([&] {
            uhd::async_metadata_t about;
            if (!d_tx->recv_async_msg(about, seconds(timeout_us)))
                return SOAPY_SDR_TIMEOUT;
            channels = 1;
            flags = about.has_time_spec ? SOAPY_SDR_HAS_TIME : 0;
            if (about.has_time_spec)
                ns = ns_of(about.time_spec);
            switch (about.event_code) {
            case uhd::async_metadata_t::EVENT_CODE_TIME_ERROR:
                return SOAPY_SDR_TIME_ERROR;
            case uhd::async_metadata_t::EVENT_CODE_UNDERFLOW:
            case uhd::async_metadata_t::EVENT_CODE_UNDERFLOW_IN_PACKET:
            case uhd::async_metadata_t::EVENT_CODE_SEQ_ERROR: // lost packets: a hole
            case uhd::async_metadata_t::EVENT_CODE_SEQ_ERROR_IN_BURST:
                return SOAPY_SDR_UNDERFLOW;
            default: // the end of a burst
                return SOAPY_SDR_TIMEOUT;
            }
        });
    }

    void drive(const atr_pin& pin)
    {
        const auto banks = d_usrp->get_gpio_banks(0);
        if (std::find(banks.begin(), banks.end(), pin.bank) == banks.end()) {
            std::string all;
            for (const auto& b : banks)
                all += (all.empty() ? "" : ", ") + b;
            throw std::invalid_argument("ptt device = '" + pin.bank +
                                        "': allowed are the device's pin banks, " +
                                        (all.empty() ? "none" : all));
        }
        const uint32_t bit = 1u << static_cast<unsigned>(pin.pin - 1);
        const uint32_t idle = pin.inverted ? bit : 0, on = bit - idle;
        const std::pair<const char*, uint32_t> values[] = {
            { "CTRL", bit },    { "DDR", bit },   { "ATR_0X", idle },
            { "ATR_RX", idle }, { "ATR_TX", on }, { "ATR_XX", on }
        };
        for (const auto& [attribute, value] : values)
            d_usrp->set_gpio_attr(pin.bank, attribute, value, bit);
    }

private:
    static bool receives(int direction) { return direction == SOAPY_SDR_RX; }
    bool receives(SoapySDR::Stream* s) const
    {
        return reinterpret_cast<const char*>(s) == &d_names[1];
    }

    // UHD reports a lost transport by exceptions.
    template <class Function>
    int guarded(const Function& f)
    {
        if (d_broken)
            return SOAPY_SDR_STREAM_ERROR;
        try {
            return f();
        } catch (const std::exception&) {
            d_broken = true;
            return SOAPY_SDR_STREAM_ERROR;
        }
    }

    const uhd::usrp::multi_usrp::sptr d_usrp;
    uhd::rx_streamer::sptr d_rx;
    uhd::tx_streamer::sptr d_tx;
    std::atomic<bool> d_broken{ false };
    bool d_sending = false;
    std::optional<uhd::time_spec_t> d_begin; // of the burst
    long long d_sent = 0;                    // samples of it
    double d_tx_rate = 0;
    char d_names[2] = {}; // their addresses identify streams
};

// Devices that failed after opening. Never closed, not even at the end of the process.
struct failed_ones {
    std::mutex mutex;
    std::vector<uhd_device*> devices;
};

failed_ones& failed()
{
    static auto* const all = new failed_ones;
    return *all;
}

void close(uhd_device* device)
{
    if (!device->broken()) {
        delete device;
        return;
    }
    std::lock_guard<std::mutex> lock(failed().mutex);
    failed().devices.push_back(device);
}

} // namespace

std::shared_ptr<SoapySDR::Device> open_uhd(const std::string& args)
{
    uhd::device_addr_t words(args);
    {
        // For the same words UHD returns the same device again, even a failed one.
        std::lock_guard<std::mutex> lock(failed().mutex);
        if (const size_t n = failed().devices.size(); n > 0)
            words["opened_again"] = std::to_string(n);
    }
    return { new uhd_device(words), close };
}

void set_atr_pin(SoapySDR::Device& device, const atr_pin& pin)
{
    auto* const uhd = dynamic_cast<uhd_device*>(&device);
    if (!uhd)
        throw std::invalid_argument("ptt way = 'uhd': this is not a UHD device");
    uhd->drive(pin);
}

} // namespace gr::hf
