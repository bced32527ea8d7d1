/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_receiver.h"

#include "modem/base/no_denormals.h"
#include "modem/find/listened_families.h"
#include "modem/find/preamble_clock.h"
#include "modem/find/preamble_watch.h"
#include "modem/find/resumption.h"
#include "modem/front/sample_buffer.h"
#include "modem/incoming_message.h"
#include "modem/input_cleaner.h"
#include "modem/reception_events.h"
#include "modem/track/burst_tracker.h"
#include "waveform/family.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

/* Work is done each time the sample count reaches a multiple of this. So events, and the
 * count at which they are raised, do not depend on the chunks. */
constexpr double quantum_s = 0.005;

// Larger samples are corrupt; the square must stay a finite float.
constexpr float largest_sample = 1e12f;

/* A preamble during a transmission takes over if that transmission had already ended. Its
 * last symbol with a certain signal may be this long before the preamble. */
constexpr double present_within_s = 0.25;

/* Time after the block with a damaged end-of-message marker at which a signal proves that
 * the message goes on. Trackers need a moment to notice an end. */
constexpr double signal_went_on_s = 0.6;

// Silence this long after such a block is the end, no fade. Twice the time that trackers
// need to notice.
constexpr double silent_after_marker_s = 1.5;

/* Lag of the search at which it skips ahead: restarting elsewhere has a cost. */
constexpr double idle_search_s = 0.5;

// A block is sure if the signal was there until this part of it was left: scores of a weak
// signal vary.
constexpr size_t unseen_part = 8;

// A signal that ends this long before the next one was lost, not preempted.
constexpr double gap_s = 0.25;

// The next preamble may start at once, and the search's own filter reaches back, samples.
constexpr int64_t search_reach = 4 * symbol_grid::samples_per_symbol;
// Most samples before the first symbol of a found preamble that are needed to read it.
constexpr int64_t needed_before = 1024 * symbol_grid::samples_per_symbol;

// A symbol ends half a symbol after its centre.
constexpr double half_symbol = symbol_grid::samples_per_symbol / 2.0;

} // namespace

class burst_receiver::impl
{
public:
    impl(const rx_options& o, const listened_families& families)
        : d_grid(grid_of(families)), d_options(o),
          d_quantum(static_cast<uint64_t>(d_grid.samples(quantum_s))),
          d_cleaner(d_grid, periods_of(families)),
          d_watch(d_grid, families, o.max_freq_offset_hz, { o.zero_interleaver })
    {
    }

    void push(const std::complex<float>* x, size_t n, const float* erased);
    void reset(uint64_t skipped);
    std::optional<rx_event> poll() { return d_events.poll(); }
    void keep_details(bool wanted) { d_details = wanted; }
    bool receiving() const { return d_tracker != nullptr || d_ending; }

    rx_counters d_counters;
    const symbol_grid d_grid;

private:
    struct ending { // an end event, held until it is past on the air
        rx_end what;
        int64_t sample;
    };

    void work();
    bool step();
    bool step_watch();
    bool certainly_present();
    bool step_track();
    bool step_resume();
    void resume(const acquired& a);
    uint64_t drop_blocks_from(uint64_t block);
    std::unique_ptr<burst_tracker> tracker_of(const acquired& a) const;
    bool silent_after_marker() const;
    void begin(acquired a);
    void give_up(rx_end_reason reason, double air_end);
    void block(const received_block& b);
    void end(rx_end_reason reason, double air_end);
    void end_with_marker(uint64_t marker);
    void forget_preambles_before(int64_t sample);
    void raise(rx_event e) { d_events.raise(std::move(e), d_counters.samples); }
    void forget();

    rx_options d_options;
    bool d_details = false; // wanted
    uint64_t d_quantum;     // samples
    sample_buffer d_in;
    input_cleaner d_cleaner;
    preamble_watch d_watch;
    std::optional<found_preamble> d_found;
    std::unique_ptr<burst_tracker> d_tracker;
    std::optional<resumption> d_resumption; // of the transmission, after a hole
    int64_t d_missed_from = -1;             // symbol after which one was looked for
    double d_resumed_after = -1;            // input sample after which one was found
    std::optional<ending> d_ending;
    int64_t d_judged_after = 0;                // samples
    std::optional<incoming_message> d_message; // of the transmission
    reception_events d_events;
};

void burst_receiver::impl::push(const std::complex<float>* x,
                                size_t n,
                                const float* erased)
{
    for (size_t i = 0; i < n; ++i) {
        std::complex<float> s = x[i];
        if (!(std::abs(s.real()) <= largest_sample &&
              std::abs(s.imag()) <= largest_sample)) {
            s = 0;
            ++d_counters.bad_samples;
        }
        d_cleaner.push(s, erased ? erased[i] : 0, d_in);
        if (++d_counters.samples % d_quantum == 0)
            work();
    }
}

void burst_receiver::impl::work()
{
    while (step()) {
    }
    // A known channel is known as it is.
    d_cleaner.filter.set_idle(!d_tracker && !d_found && !d_options.known);
    forget();
}

// Do one step of any pending work; false if more samples are needed.
bool burst_receiver::impl::step()
{
    if (d_ending && d_ending->sample <= d_in.end()) {
        raise({ d_ending->what, d_ending->sample, 0, {}, nullptr });
        d_ending.reset();
        return true;
    }
    if (d_tracker && step_track())
        return true;
    return step_watch() || step_resume();
}

/* True if the current transmission was present at the last look, so that step_watch()
 * would refuse every preamble. The search then waits until there is doubt; the samples
 * since are kept. */
bool burst_receiver::impl::certainly_present()
{
    if (!d_tracker->present())
        return false;
    const auto refused_before =
        static_cast<int64_t>(d_tracker->sample_of(d_tracker->last_good_symbol()) -
                             static_cast<double>(d_grid.samples(present_within_s)));
    if (refused_before - d_watch.searched() > d_grid.samples(idle_search_s))
        d_watch.forget_before(refused_before);
    return true;
}

/* Search whenever a preamble is possible: the next transmission may not wait for the
 * end. */
bool burst_receiver::impl::step_watch()
{
    if (!d_found && d_tracker && certainly_present())
        return false;
    if (!d_found) {
        d_found = d_watch.advance(d_in);
        d_counters.candidates = d_watch.candidates();
        if (!d_found)
            return false;
    }
    if (d_ending)
        return false;
    if (d_tracker) {
        if (d_in.end() < d_found->sample + d_judged_after)
            return false;
        const auto start = static_cast<double>(d_found->sample);
        const double last = d_tracker->sample_of(d_tracker->last_good_symbol());
        if (last > start + static_cast<double>(d_grid.samples(present_within_s))) {
            d_watch.restart(d_found->sample + preamble_watch::peak_width);
            d_found.reset();
        } else if (last < start - static_cast<double>(d_grid.samples(gap_s))) {
            give_up(rx_end_reason::lost, last);
        } else {
            give_up(rx_end_reason::preempted, start);
        }
        return true;
    }
    begin(d_found->what);
    d_found.reset();
    return true;
}

void burst_receiver::impl::begin(acquired a)
{
    d_cleaner.filter.compare(a, d_in);
    if (!d_options.known && a.plan->follows_clock)
        learn_clock(a, d_in);
    d_tracker = tracker_of(a);
    d_resumption.reset();
    d_missed_from = -1;
    d_resumed_after = -1;
    d_judged_after = d_grid.samples(a.plan->judged_after_s);
    d_message.emplace(*a.waveform, a.snr_db);
    d_events.start();
    ++d_counters.starts;
    // Do not find the rest of this preamble as another one.
    d_watch.restart(static_cast<int64_t>(d_tracker->sample_of(0)));
    const auto first =
        static_cast<int64_t>(std::lround(d_tracker->sample_of(a.first_symbol)));
    const rx_start start{ a.waveform->m, a.snr_db, a.frequency_hz, a.joined };
    raise({ start, first, 0, {}, nullptr });
}

std::unique_ptr<burst_tracker> burst_receiver::impl::tracker_of(const acquired& a) const
{
    auto t = make_tracker(a,
                          d_options.lost_after_s,
                          d_options.effort,
                          d_options.known,
                          d_options.diversity,
                          d_options.side);
    if (d_details)
        t->keep_details();
    return t;
}

/* Samples may be missing where the signal disappeared. Then it continues at another
 * place, which is searched for once. A new preamble has priority. The samples since are
 * read again from that place. So a second place must come after a later frame: two echoes
 * could otherwise be taken for each other's continuation for ever. */
bool burst_receiver::impl::step_resume()
{
    if (!d_tracker || d_found)
        return false;
    if (!d_resumption) {
        const int64_t good = d_tracker->last_good_symbol();
        if (good == d_missed_from || d_tracker->present() || !d_tracker->heard())
            return false;
        const auto frame = static_cast<int64_t>(d_message->waveform().frame_symbols());
        if (d_resumed_after >= 0 && d_tracker->sample_of(good - frame) < d_resumed_after)
            return false;
        const auto a = d_tracker->followed();
        if (!a)
            return false;
        d_missed_from = good;
        d_resumption.emplace(*a, good);
    }
    const auto state = d_resumption->advance(d_in);
    if (state == resumption::state::pending)
        return false;
    if (state == resumption::state::found) {
        d_resumed_after = d_tracker->sample_of(d_missed_from);
        resume(acquired(d_resumption->result()));
    }
    d_resumption.reset();
    return true;
}

// Blocks from \p block on will be decoded again. Drops those held, and returns their bits.
uint64_t burst_receiver::impl::drop_blocks_from(uint64_t block)
{
    uint64_t bits = 0;
    for (; d_message->block() > block; d_message->step_back())
        bits += 8 * d_events.drop_last_held();
    return bits;
}

void burst_receiver::impl::resume(const acquired& a)
{
    const description& d = d_message->waveform();
    const uint64_t first = (a.first_frame + d.frames_per_block - 1) / d.frames_per_block;
    const uint64_t dropped = drop_blocks_from(first);
    d_events.raise_held(d_counters.samples);
    d_tracker.reset(); // its partner must not take it for the next one
    d_tracker = tracker_of(a);
    d_missed_from = d_tracker->last_good_symbol();
    const double begin = d_tracker->sample_of(d_message->next_begin());
    rx_octets e = d_message->go_on_at(first, dropped);
    if (!e.octets.empty())
        raise({ std::move(e), static_cast<int64_t>(std::lround(begin)), 0, {}, nullptr });
}

bool burst_receiver::impl::step_track()
{
    if (const auto b = d_tracker->advance(d_in)) {
        block(*b);
        return true;
    }
    if (!d_tracker->lost() && !silent_after_marker())
        return false;
    give_up(rx_end_reason::lost, d_tracker->sample_of(d_tracker->last_good_symbol()));
    return true;
}

/* True if the signal ended with the block of an apparent damaged end-of-message marker.
 * Blocks that end in a fade seem to have one too. So may a block with a hole, by chance:
 * wait until the transmission has been searched for after the hole. */
bool burst_receiver::impl::silent_after_marker() const
{
    if (!d_message->suspicious() || d_resumption)
        return false;
    const int64_t end = d_message->suspected_end();
    const int64_t after = d_tracker->last_good_symbol() - end;
    if (std::abs(after) > d_grid.symbols(signal_went_on_s))
        return false;
    return static_cast<double>(d_in.end()) >
           d_tracker->sample_of(end + d_grid.symbols(silent_after_marker_s));
}

// End of a transmission without its marker.
void burst_receiver::impl::give_up(rx_end_reason reason, double air_end)
{
    rx_octets rest = d_message->substitute();
    if (const auto marker = d_message->finish(rest.octets);
        marker && !d_events.holding()) {
        // A damaged marker with nothing after it: it was the end of its block.
        end_with_marker(*marker);
        return;
    }
    // The parser held this much; everything after the signal ended is noise.
    if (d_events.holding())
        rest.octets = d_events.first_held(eom_bits / 8);
    if (!rest.octets.empty() && d_message->block() > 0)
        raise({ rest, static_cast<int64_t>(std::lround(air_end)), 0, {}, nullptr });
    ++(reason == rx_end_reason::lost ? d_counters.ends_lost : d_counters.ends_preempted);
    end(reason, air_end);
}

void burst_receiver::impl::block(const received_block& b)
{
    rx_octets e;
    const int64_t good = d_tracker->last_good_symbol();
    const bool sound =
        !d_message->suspicious() ||
        good > d_message->suspected_end() + d_grid.symbols(signal_went_on_s);
    const int64_t first = d_message->next_begin();
    const auto marker = d_message->take(b, sound, e);
    const double begin = d_tracker->sample_of(first);
    // No signal since before this block, or never: it only looked like a preamble.
    const bool away = good <= first || !d_tracker->heard();
    ++d_counters.blocks;
    const bool limit =
        !marker && d_options.max_blocks > 0 && d_message->block() >= d_options.max_blocks;
    if (limit)
        d_message->flush(e.octets);
    // A block without a signal may be noise, so hold it.
    const bool hold = away && !marker && !limit && !d_options.give_noise;
    if (!hold)
        d_events.confirm(d_counters.samples);
    // Soft bits of a block without whole octets are wanted too.
    if (!e.octets.empty() || b.details) {
        rx_event all{
            e, static_cast<int64_t>(std::lround(begin)), 0, b.channel, b.details
        };
        if (hold)
            d_events.hold(std::move(all));
        else
            raise(std::move(all));
    }
    const description& d = d_message->waveform();
    const auto last = static_cast<int64_t>(d.block_end(d_message->block() - 1));
    if (!hold && good >= last - static_cast<int64_t>(d.block_symbols() / unseen_part))
        d_events.sure();
    if (marker) {
        end_with_marker(*marker);
    } else if (limit) {
        ++d_counters.ends_limit;
        const double air_end = d_tracker->sample_of(last) - half_symbol;
        end(rx_end_reason::limit, air_end);
        forget_preambles_before(static_cast<int64_t>(air_end));
    }
}

// \p marker is the number of message bits up to the end of the marker.
void burst_receiver::impl::end_with_marker(uint64_t marker)
{
    // The transmission ends with the block that holds the last flush bit.
    const double air_end = d_tracker->sample_of(d_message->end_of(marker)) - half_symbol;
    ++d_counters.ends_eom;
    end(rx_end_reason::eom, air_end);
    forget_preambles_before(static_cast<int64_t>(air_end));
}

// \p air_end is the input sample at which the last symbol ends, half a symbol after its
// centre.
void burst_receiver::impl::end(rx_end_reason reason, double air_end)
{
    const station_time t = from_seconds(air_end / d_grid.sample_rate());
    d_tracker.reset();
    d_resumption.reset();
    const bool whole = reason == rx_end_reason::eom || reason == rx_end_reason::limit;
    d_ending = ending{ rx_end{ reason, t, d_events.octets(whole) },
                       static_cast<int64_t>(std::lround(air_end)) };
}

// Preambles found within a transmission that has ended well were false.
void burst_receiver::impl::forget_preambles_before(int64_t sample)
{
    sample -= search_reach;
    if (d_found && d_found->sample < sample) {
        d_found.reset();
        d_watch.restart(std::max(sample, d_in.begin()));
    } else {
        d_watch.forget_before(sample);
    }
}

void burst_receiver::impl::forget()
{
    int64_t keep = std::min(d_in.end(), d_watch.needs());
    if (d_found)
        keep = std::min(keep, d_found->sample - needed_before);
    if (d_tracker)
        keep = std::min(keep, d_tracker->needs());
    if (d_resumption)
        keep = std::min(keep, d_resumption->needs());
    else if (d_tracker && d_tracker->last_good_symbol() != d_missed_from)
        keep = std::min(
            keep,
            static_cast<int64_t>(d_tracker->sample_of(d_tracker->last_good_symbol())) -
                d_grid.samples(resumption::reach_s));
    d_in.drop_before(keep);
    d_cleaner.filter.forget_before(keep);
}

void burst_receiver::impl::reset(uint64_t skipped)
{
    d_tracker.reset();
    d_resumption.reset();
    d_found.reset();
    d_ending.reset();
    d_events.clear();
    d_counters.samples += skipped;
    d_cleaner.restart(static_cast<int64_t>(d_counters.samples));
    d_in.restart(static_cast<int64_t>(d_counters.samples));
    d_watch.restart(d_in.end());
}

burst_receiver::burst_receiver(const rx_options& o) : burst_receiver(o, receptions(3000))
{
}

burst_receiver::burst_receiver(const rx_options& o,
                               const std::vector<const family_reception*>& families)
{
    if (!(o.max_freq_offset_hz >= 0 && o.max_freq_offset_hz <= 100))
        throw std::invalid_argument("burst_receiver: max_freq_offset_hz = " +
                                    std::to_string(o.max_freq_offset_hz) +
                                    " is not in 0 to 100");
    if (!(o.lost_after_s >= 0.1 && o.lost_after_s <= 60))
        throw std::invalid_argument(
            "burst_receiver: lost_after_s = " + std::to_string(o.lost_after_s) +
            " is not in 0.1 to 60");
    if (o.effort < 0 || o.effort > 2)
        throw std::invalid_argument(
            "burst_receiver: effort = " + std::to_string(o.effort) + " is not in 0 to 2");
    d_impl = std::make_unique<impl>(o, families);
}

burst_receiver::~burst_receiver() = default;

void burst_receiver::push(const std::complex<float>* samples,
                          size_t n,
                          const float* erased)
{
    const no_denormals fast;
    d_impl->push(samples, n, erased);
}

std::optional<rx_event> burst_receiver::poll() { return d_impl->poll(); }
void burst_receiver::keep_details(bool wanted) { d_impl->keep_details(wanted); }
bool burst_receiver::receiving() const { return d_impl->receiving(); }
void burst_receiver::reset() { d_impl->reset(0); }
void burst_receiver::skip(uint64_t n) { d_impl->reset(n); }
const rx_counters& burst_receiver::counters() const { return d_impl->d_counters; }
const symbol_grid& burst_receiver::grid() const { return d_impl->d_grid; }

} // namespace gr::hf::kernel
