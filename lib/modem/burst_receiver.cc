/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_receiver.h"

#include "modem/acquisition.h"
#include "modem/burst_tracker.h"
#include "modem/message_parser.h"
#include "modem/preamble_search.h"
#include "modem/sample_buffer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

/* Work is done whenever the sample count reaches a multiple of this, so that the events,
 * with the count at which they are raised, do not depend on the chunks. 5 ms. */
constexpr int64_t quantum = 48;

// A sample beyond this is damage, not level; its square must stay a finite float.
constexpr float largest_sample = 1e12f;

constexpr size_t max_events = 4096; // if nobody polls, the oldest go

} // namespace

class burst_receiver::impl
{
public:
    explicit impl(const rx_options& o) : d_options(o), d_search(o.max_freq_offset_hz) {}

    void push(const std::complex<float>* x, size_t n);
    void reset(uint64_t skipped);
    std::optional<rx_event> poll();
    bool receiving() const { return d_tracker != nullptr || d_ending; }

    rx_counters d_counters;

private:
    struct ending { // an end event held back until it is past on the air
        rx_end what;
        int64_t sample;
        int64_t search_from;
    };

    void work();
    bool step();
    bool step_search();
    bool step_acquire();
    bool step_track();
    void block(const received_block& b);
    void end(rx_end_reason reason, double air_end, int64_t search_from);
    void raise(rx_event e);
    void forget();

    rx_options d_options;
    sample_buffer d_in;
    std::vector<std::complex<float>> d_clean;
    preamble_search d_search;
    std::optional<preamble_candidate> d_candidate;
    std::optional<acquisition> d_acquisition;
    std::unique_ptr<burst_tracker> d_tracker;
    std::optional<ending> d_ending;
    mode d_mode;
    message_parser d_parser;
    uint64_t d_block = 0;
    double d_snr = 0;
    std::deque<rx_event> d_events;
};

void burst_receiver::impl::push(const std::complex<float>* x, size_t n)
{
    while (n > 0) {
        const auto room = static_cast<size_t>(quantum - d_in.end() % quantum);
        const size_t k = std::min(n, room);
        d_clean.assign(x, x + k);
        for (auto& s : d_clean)
            if (!(std::abs(s.real()) <= largest_sample &&
                  std::abs(s.imag()) <= largest_sample)) {
                s = 0;
                ++d_counters.bad_samples;
            }
        d_in.append(d_clean.data(), k);
        d_counters.samples += k;
        x += k;
        n -= k;
        if (d_in.end() % quantum == 0)
            work();
    }
}

void burst_receiver::impl::work()
{
    while (step()) {
    }
    forget();
}

// One step of whatever is going on; false: more samples are needed.
bool burst_receiver::impl::step()
{
    if (d_ending) {
        if (d_ending->sample > d_in.end())
            return false;
        raise({ d_ending->what, d_ending->sample, 0 });
        d_search.restart(std::max(d_ending->search_from, d_in.begin()));
        d_ending.reset();
        return true;
    }
    if (d_tracker)
        return step_track();
    if (d_acquisition)
        return step_acquire();
    return step_search();
}

bool burst_receiver::impl::step_search()
{
    d_candidate = d_search.advance(d_in);
    if (!d_candidate)
        return false;
    ++d_counters.candidates;
    d_acquisition.emplace(*d_candidate, d_options.zero_interleaver);
    return true;
}

bool burst_receiver::impl::step_acquire()
{
    const auto state = d_acquisition->advance(d_in);
    if (state == acquisition::state::pending)
        return false;
    if (state == acquisition::state::rejected) {
        d_acquisition.reset();
        // On with what comes after this peak.
        d_search.restart(std::max(d_candidate->sample + 32, d_in.begin()));
        return true;
    }
    const acquired a = d_acquisition->result();
    d_acquisition.reset();
    d_tracker = make_tracker(a, d_options.lost_after_s, d_options.effort);
    d_mode = a.m;
    d_parser = {};
    d_block = 0;
    d_snr = a.snr_db;
    ++d_counters.starts;
    const auto first =
        static_cast<int64_t>(std::lround(d_tracker->sample_of(a.first_symbol)));
    raise({ rx_start{ a.m, a.snr_db, a.frequency_hz }, first, 0 });
    return true;
}

bool burst_receiver::impl::step_track()
{
    if (const auto b = d_tracker->advance(d_in)) {
        block(*b);
        return true;
    }
    if (!d_tracker->lost())
        return false;
    const double at = d_tracker->sample_of(d_tracker->last_good_symbol());
    rx_octets rest;
    d_parser.flush(rest.octets);
    if (!rest.octets.empty() && d_block > 0) {
        rest.snr_db = d_snr;
        rest.quality = 0;
        raise({ rest, static_cast<int64_t>(std::lround(at)), 0 });
    }
    ++d_counters.ends_lost;
    // The signal was gone for most of that time, and another may have begun meanwhile. What
    // lies before the data of this one is its own preamble.
    const double back =
        static_cast<double>(d_in.end()) - (d_options.lost_after_s + 0.6) * sample_rate;
    end(rx_end_reason::lost,
        at,
        static_cast<int64_t>(std::max(d_tracker->sample_of(0), back)));
    return true;
}

void burst_receiver::impl::block(const received_block& b)
{
    const description& d = describe(d_mode);
    rx_octets e;
    e.snr_db = d_snr = b.snr_db;
    e.quality = b.decoded.quality;
    const auto marker = d_parser.push(b.decoded.bits, e.octets);
    const auto symbol_time = [this](uint64_t symbol) {
        return d_tracker->sample_of(static_cast<int64_t>(symbol));
    };
    const double begin = symbol_time(d.block_begin(d_block));
    ++d_block;
    ++d_counters.blocks;
    const bool limit =
        !marker && d_options.max_blocks > 0 && d_block >= d_options.max_blocks;
    if (limit)
        d_parser.flush(e.octets);
    if (!e.octets.empty())
        raise({ e, static_cast<int64_t>(std::lround(begin)), 0 });
    if (marker) {
        // The transmission ends with the block that holds the last flush bit.
        const uint64_t bits = *marker + d.flush_bits;
        const uint64_t blocks =
            std::max<uint64_t>(d_block, (bits + d.input_bits - 1) / d.input_bits);
        ++d_counters.ends_eom;
        const double air_end = symbol_time(d.block_end(blocks - 1)) - 2;
        end(rx_end_reason::eom, air_end, static_cast<int64_t>(air_end));
    } else if (limit) {
        ++d_counters.ends_limit;
        const double air_end = symbol_time(d.block_end(d_block - 1)) - 2;
        end(rx_end_reason::limit, air_end, static_cast<int64_t>(air_end));
    }
}

// \p air_end: input sample at which the last symbol ends, half a symbol after its centre.
void burst_receiver::impl::end(rx_end_reason reason, double air_end, int64_t search_from)
{
    const sim_time t = from_seconds(air_end / sample_rate);
    d_tracker.reset();
    // A following preamble may begin at once; the search's own filter reaches back.
    d_ending = ending{ rx_end{ reason, t },
                       static_cast<int64_t>(std::lround(air_end)),
                       search_from - 16 };
}

void burst_receiver::impl::raise(rx_event e)
{
    e.raised_at = static_cast<uint64_t>(d_in.end());
    d_events.push_back(std::move(e));
    if (d_events.size() > max_events)
        d_events.pop_front();
}

void burst_receiver::impl::forget()
{
    // While tracking, what came since the last good probe must be there to search again.
    int64_t keep = d_in.end();
    const auto history =
        static_cast<int64_t>((d_options.lost_after_s + 2.5) * sample_rate);
    if (d_tracker)
        keep = std::min(d_tracker->needs(), d_in.end() - history);
    else if (d_ending)
        keep = d_in.end() - history;
    else if (d_acquisition)
        keep = d_acquisition->needs();
    else
        keep = d_search.needs() - 4096;
    d_in.drop_before(keep);
}

std::optional<rx_event> burst_receiver::impl::poll()
{
    if (d_events.empty())
        return std::nullopt;
    rx_event e = std::move(d_events.front());
    d_events.pop_front();
    return e;
}

void burst_receiver::impl::reset(uint64_t skipped)
{
    d_tracker.reset();
    d_acquisition.reset();
    d_ending.reset();
    d_events.clear();
    d_in.restart(d_in.end() + static_cast<int64_t>(skipped));
    d_search.restart(d_in.end());
    d_counters.samples += skipped;
}

burst_receiver::burst_receiver(const rx_options& o)
{
    if (!(o.max_freq_offset_hz >= 0 && o.max_freq_offset_hz <= 100))
        throw std::invalid_argument("burst_receiver: max_freq_offset_hz = " +
                                    std::to_string(o.max_freq_offset_hz) +
                                    " is not in 0 to 100");
    if (!(o.lost_after_s >= 0.1 && o.lost_after_s <= 10))
        throw std::invalid_argument(
            "burst_receiver: lost_after_s = " + std::to_string(o.lost_after_s) +
            " is not in 0.1 to 10");
    if (o.effort < 0 || o.effort > 2)
        throw std::invalid_argument(
            "burst_receiver: effort = " + std::to_string(o.effort) + " is not in 0 to 2");
    d_impl = std::make_unique<impl>(o);
}

burst_receiver::~burst_receiver() = default;

void burst_receiver::push(const std::complex<float>* samples, size_t n)
{
    d_impl->push(samples, n);
}

std::optional<rx_event> burst_receiver::poll() { return d_impl->poll(); }
bool burst_receiver::receiving() const { return d_impl->receiving(); }
void burst_receiver::reset() { d_impl->reset(0); }
void burst_receiver::skip(uint64_t n) { d_impl->reset(n); }
const rx_counters& burst_receiver::counters() const { return d_impl->d_counters; }

} // namespace gr::hf::kernel
