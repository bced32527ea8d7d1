/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/air_impl.h"
#include "blocks/buffer_size.h"

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
// Samples due by the clock are passed on in pieces of this length. Each piece wakes all
// later blocks.
constexpr double piece_s = 0.005;
// A sender that is this far ahead of the last listener waits for it: more than what a
// flowgraph holds back between its source and its sink.
constexpr double max_ahead_s = 1;

class air_source : public gr::sync_block
{
public:
    air_source(std::shared_ptr<air_impl> a, int station)
        : gr::sync_block("hf_air_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, sizeof(gr_complex))),
          d_air(std::move(a)), d_station(station)
    {
        set_max_output_buffer(whole_pages(d_air->buffer_samples()));
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

} // namespace

air::sptr air::make(int stations,
                    const std::string& channel,
                    uint64_t seed,
                    double speed,
                    double signal_power,
                    double duration_s,
                    double delay_ms,
                    int bandwidth)
{
    return std::make_shared<air_impl>(
        stations, channel, seed, speed, signal_power, duration_s, delay_ms, bandwidth);
}

air_impl::air_impl(int stations,
                   const std::string& channel,
                   uint64_t seed,
                   double speed,
                   double signal_power,
                   double duration_s,
                   double delay_ms,
                   int bandwidth)
    : d_options({ static_cast<size_t>(std::max(stations, 0)),
                  channel,
                  seed,
                  signal_power,
                  delay_ms,
                  bandwidth }),
      d_air(d_options), d_sample_rate(d_air.sample_rate()),
      d_end(static_cast<uint64_t>(std::llround(duration_s * d_sample_rate))),
      d_speed(speed), d_halves(d_air.stations())
{
    const auto check = [](bool ok, const char* what, double value, const char* allowed) {
        if (!ok)
            throw std::invalid_argument(std::string("air: ") + what + " " +
                                        std::to_string(value) + ": allowed are " +
                                        allowed);
    };
    check(speed >= 0, "speed", speed, "0 (no limit) and above");
    for (size_t k = 0; k < d_halves.size(); ++k)
        d_air.set_listens(k, false); // until it has a source
    check(duration_s >= 0, "duration", duration_s, "0 (endless) and above, in seconds");
}

void air_impl::check_station(int station) const
{
    if (station < 0 || static_cast<size_t>(station) >= d_halves.size())
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    ": allowed are 0 to " +
                                    std::to_string(d_halves.size() - 1));
}

std::shared_ptr<gr::sync_block> air_impl::source(int station)
{
    check_station(station);
    auto& s = d_halves[static_cast<size_t>(station)];
    if (std::exchange(s.has_source, true))
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    " has its source already");
    {
        boost::lock_guard<boost::mutex> lock(d_mutex);
        d_air.set_listens(static_cast<size_t>(station), true);
    }
    return gnuradio::make_block_sptr<air_source>(shared_from_this(), station);
}

std::shared_ptr<gr::sync_block> air_impl::sink(int station)
{
    check_station(station);
    auto& s = d_halves[static_cast<size_t>(station)];
    if (std::exchange(s.has_sink, true))
        throw std::invalid_argument("air: station " + std::to_string(station) +
                                    " has its sink already");
    return gnuradio::make_block_sptr<air_sink>(shared_from_this(), station);
}

void air_impl::set_speed(double speed)
{
    boost::lock_guard<boost::mutex> lock(d_mutex);
    d_speed = std::max(speed, 0.0);
    d_started = false; // the pace starts again
    d_changed.notify_all();
}

void air_impl::set_channel(const std::string& channel)
{
    kernel::channel_spec::parse(channel); // throws
    boost::lock_guard<boost::mutex> lock(d_mutex);
    d_options.channel = channel;
    for (auto& s : d_halves)
        s.has_channel = false;
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
    const uint64_t taken = d_air.taken_by_all();
    return taken == UINT64_MAX ? 0 : static_cast<double>(taken) / d_sample_rate;
}

bool air_impl::write(int station, const gr_complex* samples, size_t n)
{
    const auto k = static_cast<size_t>(station);
    boost::unique_lock<boost::mutex> lock(d_mutex);
    // The air sets the pace of a sender that has none, such as hf.tx with continuous.
    while (!d_ended && static_cast<double>(d_air.ahead(k)) > max_ahead_s * d_sample_rate)
        d_taken.wait_for(lock, boost::chrono::milliseconds(wait_ms));
    d_air.write(k, samples, n);
    d_changed.notify_all();
    return !d_ended;
}

size_t air_impl::available(size_t station) const
{
    const uint64_t n = d_air.available(station), taken = d_air.taken(station);
    return d_end > 0 ? std::min(n, d_end - std::min(d_end, taken)) : n;
}

// How many of n samples from position on are due by the clock: all that are due, or none
// if they are less than a piece and not all of n. In that case wait_s is set.
size_t air_impl::paced(uint64_t position, size_t n, double& wait_s)
{
    if (d_speed <= 0)
        return n;
    const double rate = d_speed * d_sample_rate;
    const auto t = clock::now();
    if (!d_started) {
        d_started = true;
        d_pace_time = t;
        d_pace_sample = position;
    }
    const double due = std::chrono::duration<double>(t - d_pace_time).count() * rate +
                       static_cast<double>(d_pace_sample);
    const double more = due - static_cast<double>(position);
    // A machine that cannot keep up must not race afterwards.
    if (more > rate * 0.2) {
        d_pace_time = t;
        d_pace_sample = position;
    }
    const double least = std::min(static_cast<double>(n), std::max(1.0, rate * piece_s));
    if (more < least) {
        wait_s = (least - more) / rate;
        return 0;
    }
    return std::min(n, static_cast<size_t>(more));
}

int air_impl::read(int station, gr_complex* out, size_t n)
{
    const auto k = static_cast<size_t>(station);
    std::vector<kernel::shared_air::samples> heard;
    {
        boost::unique_lock<boost::mutex> lock(d_mutex);
        const uint64_t taken = d_air.taken(k);
        n = std::min(n, available(k));
        if (n == 0 && !d_ended && (d_end == 0 || taken < d_end)) {
            d_changed.wait_for(lock, boost::chrono::milliseconds(wait_ms));
            return d_ended ? -1 : 0;
        }
        if (d_ended || n == 0)
            return -1;
        double wait_s = 0;
        n = paced(taken, n, wait_s);
        if (n == 0) {
            lock.unlock();
            boost::this_thread::sleep_for(boost::chrono::duration<double>(wait_s));
            return 0;
        }
        if (!std::exchange(d_halves[k].has_channel, true))
            d_air.set_channel(k, d_options);
        d_air.take(k, n, heard);
        d_taken.notify_all();
    }
    // The channel models of this receiver are used only by its own thread.
    d_air.mix(k, heard, out, n);
    return static_cast<int>(n);
}

} // namespace gr::hf
