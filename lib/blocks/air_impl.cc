/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/air_impl.h"

#include <gnuradio/io_signature.h>

#include <boost/thread/locks.hpp>
#include <boost/thread/thread.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf {
namespace {

// Longest wait inside work(): stop() must not hang.
constexpr int wait_ms = 20;

class air_source : public gr::sync_block
{
public:
    air_source(std::shared_ptr<air_impl> a, int station)
        : gr::sync_block("hf_air_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_air(std::move(a)), d_station(station)
    {
        set_max_output_buffer(512);
    }

    int work(int n, gr_vector_const_void_star&, gr_vector_void_star& out) override
    {
        for (;;) {
            const int got = d_air->read(
                d_station, static_cast<gr_complex*>(out[0]), static_cast<size_t>(n));
            if (got != 0)
                return got;
            boost::this_thread::interruption_point();
        }
    }

private:
    std::shared_ptr<air_impl> d_air;
    const int d_station;
};

class air_sink : public gr::sync_block
{
public:
    air_sink(std::shared_ptr<air_impl> a, int station)
        : gr::sync_block("hf_air_sink",
                         gr::io_signature::make(1, 1, sizeof(gr_complex)),
                         gr::io_signature::make(0, 0, 0)),
          d_air(std::move(a)), d_station(station)
    {
    }

    int work(int n, gr_vector_const_void_star& in, gr_vector_void_star&) override
    {
        return d_air->write(d_station,
                            static_cast<const gr_complex*>(in[0]),
                            static_cast<size_t>(n))
                   ? n
                   : WORK_DONE;
    }

private:
    std::shared_ptr<air_impl> d_air;
    const int d_station;
};

// Numbers apart from each other, one for each ordered pair of stations.
uint64_t pair_seed(uint64_t seed, int from, int to)
{
    return seed * 1000003 + static_cast<uint64_t>(from) * 64 + static_cast<uint64_t>(to);
}

} // namespace

air::sptr air::make(int stations,
                    const std::string& channel,
                    uint64_t seed,
                    double speed,
                    double signal_power,
                    double duration_s,
                    double delay_ms,
                    double sample_rate)
{
    return std::make_shared<air_impl>(
        stations, channel, seed, speed, signal_power, duration_s, delay_ms, sample_rate);
}

air_impl::air_impl(int stations,
                   const std::string& channel,
                   uint64_t seed,
                   double speed,
                   double signal_power,
                   double duration_s,
                   double delay_ms,
                   double sample_rate)
    : d_delay(static_cast<uint64_t>(std::lround(delay_ms * 1e-3 * sample_rate))),
      d_end(static_cast<uint64_t>(std::llround(duration_s * sample_rate))),
      d_sample_rate(sample_rate), d_speed(speed)
{
    const auto check = [](bool ok, const char* what, double value, const char* allowed) {
        if (!ok)
            throw std::invalid_argument(std::string("air: ") + what + " " +
                                        std::to_string(value) + ": allowed are " +
                                        allowed);
    };
    check(stations >= 2 && stations <= 64, "stations", stations, "2 to 64");
    check(speed >= 0, "speed", speed, "0 (no limit) and above");
    check(duration_s >= 0, "duration", duration_s, "0 (endless) and above, in seconds");
    check(delay_ms >= 10 && delay_ms <= 1000, "delay", delay_ms, "10 to 1000 ms");

    auto paths = kernel::channel_spec::parse(channel);
    // Noise belongs to the receiver: it must not grow with the number of stations.
    kernel::channel_spec noise = kernel::channel_spec::parse("clear");
    std::swap(noise.snr_db, paths.snr_db);

    d_stations.resize(static_cast<size_t>(stations));
    for (int to = 0; to < stations; ++to) {
        auto& s = d_stations[static_cast<size_t>(to)];
        s.noise = std::make_unique<kernel::channel>(
            noise, sample_rate, pair_seed(seed, to, to), signal_power);
        for (int from = 0; from < stations; ++from)
            s.from.push_back(from == to
                                 ? nullptr
                                 : std::make_unique<kernel::channel>(
                                       paths, sample_rate, pair_seed(seed, from, to)));
    }
}

void air_impl::check_station(int station) const
{
    if (station < 0 || static_cast<size_t>(station) >= d_stations.size())
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    ": allowed are 0 to " +
                                    std::to_string(d_stations.size() - 1));
}

std::shared_ptr<gr::sync_block> air_impl::source(int station)
{
    check_station(station);
    auto& s = d_stations[static_cast<size_t>(station)];
    if (std::exchange(s.has_source, true))
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    " has its source already");
    return gnuradio::make_block_sptr<air_source>(shared_from_this(), station);
}

std::shared_ptr<gr::sync_block> air_impl::sink(int station)
{
    check_station(station);
    auto& s = d_stations[static_cast<size_t>(station)];
    if (std::exchange(s.has_sink, true))
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    " has its sink already");
    return gnuradio::make_block_sptr<air_sink>(shared_from_this(), station);
}

void air_impl::set_speed(double speed)
{
    boost::lock_guard<boost::mutex> lock(d_mutex);
    d_speed = std::max(speed, 0.0);
    d_started = false; // the pace starts anew
    d_changed.notify_all();
}

void air_impl::end()
{
    boost::lock_guard<boost::mutex> lock(d_mutex);
    d_ended = true;
    d_changed.notify_all();
}

double air_impl::now() const
{
    boost::lock_guard<boost::mutex> lock(d_mutex);
    uint64_t slowest = UINT64_MAX;
    for (const auto& s : d_stations)
        slowest = std::min(slowest, s.read);
    return static_cast<double>(slowest) / d_sample_rate;
}

bool air_impl::write(int station, const gr_complex* samples, size_t n)
{
    boost::lock_guard<boost::mutex> lock(d_mutex);
    auto& s = d_stations[static_cast<size_t>(station)];
    s.sent.insert(s.sent.end(), samples, samples + n);
    s.written += n;
    d_changed.notify_all();
    return !d_ended;
}

// What all others sent, delayed, is what a station may hear.
size_t air_impl::available(int station) const
{
    uint64_t upto = UINT64_MAX;
    for (size_t k = 0; k < d_stations.size(); ++k)
        if (k != static_cast<size_t>(station))
            upto = std::min(upto, d_stations[k].written + d_delay);
    const uint64_t read = d_stations[static_cast<size_t>(station)].read;
    if (d_end > 0)
        upto = std::min(upto, d_end);
    return upto > read ? static_cast<size_t>(upto - read) : 0;
}

// How many of n samples from position on are due by the clock.
size_t air_impl::paced(uint64_t position, size_t n)
{
    if (d_speed <= 0)
        return n;
    const auto t = clock::now();
    if (!d_started) {
        d_started = true;
        d_pace_time = t;
        d_pace_sample = position;
    }
    const double due =
        std::chrono::duration<double>(t - d_pace_time).count() * d_speed * d_sample_rate +
        static_cast<double>(d_pace_sample);
    const double more = due - static_cast<double>(position);
    // A machine that cannot keep up must not race afterwards.
    if (more > d_sample_rate * d_speed * 0.2) {
        d_pace_time = t;
        d_pace_sample = position;
    }
    return more <= 0 ? 0 : std::min(n, static_cast<size_t>(more));
}

int air_impl::read(int station, gr_complex* out, size_t n)
{
    auto& s = d_stations[static_cast<size_t>(station)];
    std::vector<std::vector<gr_complex>> heard(d_stations.size());
    {
        boost::unique_lock<boost::mutex> lock(d_mutex);
        n = std::min(n, available(station));
        if (n == 0 && !d_ended && (d_end == 0 || s.read < d_end)) {
            d_changed.wait_for(lock, boost::chrono::milliseconds(wait_ms));
            return d_ended ? -1 : 0;
        }
        if (d_ended || n == 0)
            return -1;
        n = paced(s.read, n);
        if (n == 0) {
            lock.unlock();
            boost::this_thread::sleep_for(boost::chrono::microseconds(500));
            return 0;
        }
        for (size_t k = 0; k < d_stations.size(); ++k) {
            if (k == static_cast<size_t>(station))
                continue;
            const auto& other = d_stations[k];
            heard[k].assign(n, gr_complex());
            // Before its first sample arrives a station is heard as silence.
            const uint64_t skip =
                s.read < d_delay ? std::min<uint64_t>(n, d_delay - s.read) : 0;
            if (skip < n) {
                const auto at =
                    static_cast<ptrdiff_t>(s.read + skip - d_delay - other.sent_from);
                std::copy_n(other.sent.begin() + at,
                            n - skip,
                            heard[k].begin() + static_cast<ptrdiff_t>(skip));
            }
        }
        s.read += n;
        forget_read_samples();
    }
    // The channel models of this receiver are used by its own thread only.
    std::fill(out, out + n, gr_complex());
    for (size_t k = 0; k < d_stations.size(); ++k) {
        if (!s.from[k])
            continue;
        s.from[k]->process(heard[k].data(), heard[k].data(), n);
        for (size_t i = 0; i < n; ++i)
            out[i] += heard[k][i];
    }
    s.noise->process(out, out, n);
    return static_cast<int>(n);
}

void air_impl::forget_read_samples()
{
    uint64_t slowest = UINT64_MAX;
    for (const auto& s : d_stations)
        slowest = std::min(slowest, s.read);
    const uint64_t needed = slowest > d_delay ? slowest - d_delay : 0;
    for (auto& s : d_stations) {
        // In large pieces: every erase moves the rest.
        if (needed < s.sent_from + 4096)
            continue;
        const uint64_t n = std::min<uint64_t>(needed - s.sent_from, s.sent.size());
        s.sent.erase(s.sent.begin(), s.sent.begin() + static_cast<ptrdiff_t>(n));
        s.sent_from += n;
    }
}

} // namespace gr::hf
