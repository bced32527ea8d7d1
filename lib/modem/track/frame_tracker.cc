/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/frame_tracker.h"

#include "modem/track/probe_match.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

// Quality of a decoded block that may teach delays. One value tried, laboratory/results/log/ssb-filters.md.
constexpr double sure_quality = 0.5;
// Class of fading, by its lower end, up to which weak delays are learnt. At 3 ms, 10 Hz
// and 30 dB they took auto from 2178 to 1797 bit/s.
constexpr double slow_hz = 0;
// Signal's share over probe_match() with as many equal paths, rarely exceeded.
constexpr float several_paths = 3;
constexpr int64_t rows_before = 32; // before the first symbol; the filter reaches 16 back

const fading_pace& refined(const fading_class& c)
{
    return c.refined.terms > 0 ? c.refined : c.pace;
}

// Data as known symbols show more in less time.
channel_estimator::options refiner_options(const acquired& a)
{
    channel_estimator::options o = estimator_options(a);
    o.fading = refined(a.plan->paces.front());
    return o;
}

size_t frames_in(const description& d, double seconds)
{
    return static_cast<size_t>(seconds * d.symbol_rate_bd /
                               static_cast<double>(d.frame_symbols()));
}

// The start of the signal is no level step.
int64_t settled_at(const acquired& a, const half_symbol_stream& y)
{
    const auto settled = static_cast<double>(
        symbol_grid(a.waveform->symbol_rate_bd).symbols(a.plan->frames.settled_s));
    return static_cast<int64_t>(
        y.input_time(2 * (static_cast<double>(a.first_symbol) + settled)));
}

} // namespace

frame_tracker::frame_tracker(const acquired& a,
                             double lost_after_s,
                             std::unique_ptr<detector> det,
                             std::shared_ptr<const known_channel> known,
                             partner other)
    : d_d(*a.waveform), d_a(a), d_stream(grid(),
                                         a.origin,
                                         2 * a.first_symbol - rows_before,
                                         a.frequency_hz,
                                         a.clock),
      d_estimator(estimator_options(a), a.profile, a.noise),
      d_refiner(refiner_options(a), a.profile, a.noise),
      d_carrier(a.frequency_hz,
                d_d.symbol_rate_bd,
                3 + frames_in(d_d, plan().frames.recent_s)),
      d_clock(grid().half_symbol_rate()), d_level(grid(), settled_at(a, d_stream)),
      d_schedule(d_d, a.first_frame, a.first_symbol),
      d_presence(std::max<size_t>(3, frames_in(d_d, lost_after_s)),
                 std::max<size_t>(2, frames_in(d_d, plan().frames.recent_s)),
                 plan().presence,
                 d_schedule.data_begin()),
      d_fading(d_d, plan(), static_cast<double>(preamble_piece()), a.frequency_hz),
      d_beliefs(a), d_readings(d_d),
      d_block(grid(), a.first_frame % d_d.frames_per_block != 0),
      d_detector(std::move(det)), d_other(std::move(other))
{
    if (known)
        d_true.emplace(std::move(known), a.profile.size());
    d_model.set_sub_block(plan().paces.front().sub_block);
    d_model.set_sparse(a.profile.size() > dense_delays);
    if (d_other.link)
        d_other.link->begin(d_other.side,
                            d_d,
                            sample_of(d_schedule.data_begin()) / grid().sample_rate(),
                            a.joined || a.first_frame > 0);
}

frame_tracker::~frame_tracker()
{
    if (d_other.link)
        d_other.link->end(d_other.side);
}

size_t frame_tracker::window_margin() const
{
    return static_cast<size_t>(grid().half_symbols(plan().frames.window_margin_s));
}

// Symbols of the preamble that are observed at once.
int64_t frame_tracker::preamble_piece() const
{
    return std::min(static_cast<int64_t>(d_d.frame_symbols()),
                    grid().symbols(plan().preamble_piece_s));
}

double frame_tracker::centre_of(const frame& f) const
{
    return static_cast<double>(f.begin) + static_cast<double>(d_d.unknown) / 2 - 0.5;
}

double frame_tracker::sample_of(int64_t symbol) const
{
    return d_stream.input_time(2 * static_cast<double>(symbol) +
                               static_cast<double>(d_a.first_tap));
}

std::optional<acquired> frame_tracker::followed() const
{
    if (d_true)
        return std::nullopt;
    acquired now = d_a;
    now.clock = d_stream.clock();
    const auto row = static_cast<double>(d_stream.end());
    now.origin =
        d_stream.input_time(row) - symbol_grid::samples_per_row * (1 + now.clock) * row;
    now.frequency_hz = d_carrier.certain_hz();
    now.preamble = d_beliefs.preamble();
    if (const description* reading = d_detector->reading())
        now.reading = reading->m.reading;
    return now;
}

symbol_belief frame_tracker::belief(int64_t n) const
{
    return d_beliefs.at(n, d_readings.chosen());
}

// False if there are not enough samples yet.
bool frame_tracker::observe(const sample_buffer& in,
                            int64_t begin,
                            int64_t end,
                            bool exact)
{
    // Rows up to the echoes of the last symbol; the rest of the pulse is not needed.
    const int64_t last_row = 2 * end + static_cast<int64_t>(d_a.profile.size());
    d_stream.run(in, last_row);
    follow_level(in);
    if (d_stream.end() < last_row)
        return false;
    const double memory = (2 * d_estimator.window_s() + 1) * d_d.symbol_rate_bd;
    d_estimator.forget_before(end - static_cast<int64_t>(memory));
    if (exact && d_detector->iterates())
        d_refiner.observe(
            d_stream, begin, end, [this](int64_t n) { return belief(n); }, true);
    // A lone probe may be followed by data, a known symbol or nothing.
    d_estimator.observe(
        d_stream,
        begin,
        end,
        [this, end, exact](int64_t n) {
            return n >= end && !exact ? symbol_belief{ 0, 1 } : belief(n);
        },
        exact);
    return true;
}

// Dense known symbols follow steps by themselves.
void frame_tracker::follow_level(const sample_buffer& in)
{
    if (d_true || !plan().follows_level)
        return;
    d_level.follow(in, d_stream, [this](int64_t row) {
        d_estimator.refresh(d_stream, row);
        d_refiner.refresh(d_stream, row);
    });
}

// Estimate around \p centre and tune the oscillator to the carrier.
void frame_tracker::follow(double centre)
{
    const double expected = d_carrier.predict(centre);
    d_estimator.solve(d_stream, centre, expected, d_carrier.rate());
    const bool present = d_estimator.explained() > plan().presence;
    d_carrier.update(d_estimator, present);
    if (present)
        follow_clock();
    // Tune for the samples mixed next, which lie after the centre.
    const double next = d_carrier.hz_at(static_cast<double>(d_stream.end()) / 2);
    if (std::abs(next - d_stream.frequency()) > plan().frames.retune_hz)
        d_stream.set_frequency(next);
}

/* With short symbols, ordinary clock differences move paths from tap to tap within the
 * estimator's window. Then the rows follow the sender's clock. */
void frame_tracker::follow_clock()
{
    if (d_true || !plan().follows_clock || d_estimator.momentary().empty())
        return;
    const double at = d_estimator.momentary_at(), at_s = at / d_d.symbol_rate_bd;
    if (at_s <= d_clock.last_s())
        return;
    d_clock.add(d_estimator.momentary(), at_s, d_stream.clock_at(2 * at));
    const double rows = (d_clock.difference() - d_stream.clock()) *
                        grid().half_symbol_rate() * d_estimator.window_s();
    if (std::abs(rows) > plan().frames.clock_rows)
        d_stream.set_clock(d_clock.difference());
}

// The whole preamble tells the delays better than what it was found by.
void frame_tracker::learn_delays(const sample_buffer& in)
{
    const int64_t begin = d_schedule.preamble_at(), piece = preamble_piece();
    d_stream.run(in, 0);
    const int64_t heard = std::min<int64_t>(
        { 0,
          d_stream.end() / 2,
          begin + static_cast<int64_t>(plan().frames.learn_pieces) * piece });
    const int rows = d_estimator.learn(
        d_stream, begin, heard, piece, [this](int64_t n) { return belief(n); });
    if (rows != 0) {
        d_stream.move(rows);
        d_a.first_tap = window_margin();
    }
}

bool frame_tracker::observe_preamble(const sample_buffer& in)
{
    const int64_t begin = d_schedule.preamble_at(), data = d_schedule.data_begin();
    if (begin == d_a.first_symbol && plan().learns_delays && data == 0)
        learn_delays(in);
    const int64_t end = std::min(data, begin + preamble_piece());
    if (!observe(in, begin, end, true))
        return false;
    const double centre = static_cast<double>(begin + end) / 2;
    d_carrier.restart(static_cast<double>(begin));
    follow(centre);
    carrier_turn(centre);
    d_schedule.preamble_observed(end);
    if (end == data && d_fading.end_preamble())
        use_pace();
    return true;
}

/* Observe the next stretch of known symbols: pieces of the preamble, then each probe. A
 * reinserted preamble is a stretch of its own, since it may not come. */
bool frame_tracker::observe_next(const sample_buffer& in)
{
    if (d_schedule.in_preamble())
        return observe_preamble(in);
    const frame& f = d_schedule.observing();
    const auto begin = static_cast<int64_t>(f.begin);
    if (d_schedule.reinserted_due()) {
        if (!observe(in, begin - static_cast<int64_t>(f.reinserted), begin, true))
            return false;
        d_schedule.reinserted_observed();
        return true;
    }
    const int64_t probe = begin + static_cast<int64_t>(d_d.unknown);
    const int64_t end = probe + static_cast<int64_t>(d_d.known);
    if (d_readings.differ(f.frame_in_cycle)) {
        const int64_t last_row = 2 * end + static_cast<int64_t>(d_a.profile.size());
        d_stream.run(in, last_row);
        if (d_stream.end() < last_row)
            return false;
        d_readings.hear(d_stream, probe, f.frame_in_cycle, d_estimator);
    }
    if (!observe(in, probe, end, false))
        return false;
    d_schedule.probe_observed();
    return true;
}

std::optional<received_block> frame_tracker::advance(const sample_buffer& in)
{
    d_block.narrow.heard_carriers_until(in.carriers_until());
    for (;;) {
        if (d_block.complete)
            return end_block();
        if (!d_schedule.may_process(plan().look_ahead)) {
            if (!observe_next(in))
                return std::nullopt;
            continue;
        }
        const frame f = d_schedule.process();
        process(f);
        keep_paths_in_window();
        if (!d_detector->iterates())
            d_stream.drop_before(2 * static_cast<int64_t>(f.begin) - 64);
        if (f.last_of_block && d_block.partial)
            forget_part();
        else
            d_block.complete = f.last_of_block;
    }
}

// What came of a block whose begin is not known.
void frame_tracker::forget_part()
{
    d_block.partial = false;
    d_detector->forget();
    forget_block();
    d_block.gain.restart();
    if (d_block.details)
        keep_details();
}

// Probes alone do not show the weak end of a filter's ringing. Decoded data do.
void frame_tracker::learn_weak_delays()
{
    std::vector<float> profile = d_estimator.profile();
    for (size_t a = 0; a < profile.size(); ++a)
        profile[a] = std::max(profile[a], d_refiner.profile()[a]);
    d_estimator.set_statistics(profile, d_estimator.noise());
}

// Empty: the other antenna is waited for.
std::optional<received_block> frame_tracker::end_block()
{
    std::optional<decoded_block> decoded;
    if (d_other.link)
        decoded =
            d_other.link->decode(d_other.side, d_block.number, *d_other.detector, *this);
    else
        decoded = d_detector->end_block(*this);
    if (!decoded)
        return std::nullopt;
    d_block.complete = false;
    ++d_block.number;
    if (d_block.observed_again && decoded->quality > sure_quality &&
        d_fading.pace().from_hz <= slow_hz)
        learn_weak_delays();
    received_block b;
    b.decoded = std::move(*decoded);
    b.reading = d_detector->reading();
    forget_block();
    b.channel.snr_db = snr_in_bandwidth(d_block.gain.mean() * mean_power(d_d), d_d);
    b.channel.freq_offset_hz = d_carrier.hz();
    b.channel.doppler_hz = d_fading.take_spread_hz();
    b.channel.coded_ber = b.decoded.coded_ber;
    describe_delays(d_estimator.profile(), grid(), b.channel);
    d_block.gain.restart();
    if (d_block.details) {
        b.details = std::move(d_block.details);
        keep_details();
    }
    return b;
}

void frame_tracker::keep_details()
{
    d_block.details = std::make_shared<block_details>();
    d_detector->write_details_to(d_block.details.get());
}

void frame_tracker::process(const frame& f)
{
    const auto begin = static_cast<int64_t>(f.begin);
    follow(centre_of(f));
    const int64_t end =
        begin + static_cast<int64_t>(d_d.unknown) + static_cast<int64_t>(d_d.known);
    const int64_t probe = begin + static_cast<int64_t>(d_d.unknown);
    // Taps can be fitted to speech or lightning, the probe cannot.
    const float match =
        several_paths *
        probe_match(d_stream, probe, d_d.known, d_estimator, [this, probe](size_t i) {
            return belief(probe + static_cast<int64_t>(i)).mean;
        });
    d_presence.add(std::min(d_estimator.explained(), match), end);
    d_carrier.end_frame(d_presence.now());
    // What the presence rests on at first is the preamble.
    if (!d_presence.confirmed() && match > plan().presence &&
        d_estimator.explained_of(d_stream, probe) > plan().presence)
        d_presence.confirm();

    measure_doppler(centre_of(f));
    prepare(f, d_estimator, d_frame);
    d_block.gain.add(d_frame, d_d.unknown);
    if (d_detector->iterates())
        d_block.frames.push_back({ f, d_carrier.hz(), d_carrier.rate() });
    d_detector->frame(d_frame);
}

void frame_tracker::keep_paths_in_window()
{
    const int rows = window_error(d_estimator.profile(), window_margin());
    if (rows == 0)
        return;
    d_stream.move(rows);
    d_estimator.move(rows);
    d_refiner.move(rows);
    d_fading.move(rows);
    d_clock.move(rows);
}

// Turn that refers taps of the last solve to the carrier.
std::complex<float> frame_tracker::carrier_turn(double centre)
{
    const auto turn = d_fading.turn(centre, d_carrier.hz(), d_stream, d_estimator);
    if (d_fading.look(d_estimator, turn, d_schedule.in_preamble()))
        use_pace();
    return turn;
}

void frame_tracker::use_pace()
{
    const fading_class& c = d_fading.pace();
    d_estimator.set_pace(c.pace);
    d_refiner.set_pace(refined(c));
    d_model.set_sub_block(c.sub_block);
    d_carrier.set_spread(c.pace.spread_hz);
}

void frame_tracker::measure_doppler(double centre)
{
    const auto turn = carrier_turn(centre);
    channel_taps g;
    d_estimator.at(centre, g);
    std::vector<std::complex<float>> taps(d_estimator.profile().size());
    for (size_t a = 0; a < g.size(); ++a)
        taps[d_estimator.selected()[a]] = g[a] * turn;
    if (d_block.details)
        d_block.details->taps.insert(
            d_block.details->taps.end(), taps.begin(), taps.end());
    d_fading.add(std::move(taps));
}

void frame_tracker::prepare(const frame& f,
                            const channel_view& estimated,
                            frame_observation& o)
{
    if (d_true)
        d_true->look(d_stream, centre_of(f));
    const channel_view& channel = d_true ? *d_true : estimated;
    o.alphabet = &d_d.alphabet;
    const description* const reading = d_detector->reading();
    const cell* const data =
        reading == nullptr ? f.data : reading->data_of(f.frame_in_cycle);
    o.frame_in_cycle = f.frame_in_cycle;
    o.scrambling.resize(d_d.unknown);
    for (size_t i = 0; i < d_d.unknown; ++i)
        o.scrambling[i] = data[i].value;
    o.noise = channel.noise();
    o.symbol_power = static_cast<float>(d_d.alphabet.mean_power());
    d_model.make(
        channel,
        d_stream,
        static_cast<int64_t>(f.begin),
        d_d.unknown,
        [this](int64_t n) { return belief(n); },
        o);
}

/* All data of the block serve as known symbols, each weighted by its belief. The refiner
 * still has the frames of the previous block, with their final beliefs. */
void frame_tracker::observe_again(const std::vector<symbol_belief>& beliefs,
                                  std::vector<frame_observation>& frames)
{
    const auto block_begin = static_cast<int64_t>(d_block.frames.front().f.begin);
    d_beliefs.begin_block(block_begin);
    const symbol_belief* next = beliefs.data();
    for (const auto& b : d_block.frames) {
        d_beliefs.add_frame(static_cast<int64_t>(b.f.begin), next, d_readings.chosen());
        next += d_d.unknown;
    }
    // With the data known, the noise can be measured better.
    d_refiner.set_statistics(d_estimator.profile(),
                             d_block.observed_again ? d_refiner.noise()
                                                    : d_estimator.noise());
    d_block.observed_again = true;
    double variance = 0;
    for (const symbol_belief& b : beliefs)
        variance += b.variance;
    const bool decided = variance < plan().frames.guessed * d_d.alphabet.mean_power() *
                                        static_cast<double>(beliefs.size());
    if (decided)
        d_block.gain.restart();
    d_refiner.forget_from(block_begin);
    // What looked like bursts may be carriers that are taken out by now.
    if (disturbed())
        d_stream.forget_interference_from(2 * block_begin);
    const auto about = [this](int64_t n) { return belief(n); };
    const int64_t piece = grid().symbols(plan().frames.data_piece_s);
    for (const auto& b : d_block.frames) {
        const auto begin = static_cast<int64_t>(b.f.begin);
        const int64_t end = begin + static_cast<int64_t>(d_d.frame_symbols());
        for (int64_t n = begin; n < end; n += piece)
            d_refiner.observe(d_stream, n, std::min(end, n + piece), about, true);
    }
    if (disturbed())
        take_out_carriers();
    frames.resize(d_block.frames.size());
    for (size_t k = 0; k < d_block.frames.size(); ++k) {
        const auto& b = d_block.frames[k];
        d_refiner.solve(d_stream, centre_of(b.f), b.hz, b.drift);
        const auto begin = static_cast<int64_t>(b.f.begin);
        const int64_t end = begin + static_cast<int64_t>(d_d.frame_symbols());
        if (!d_true && d_refiner.find_interference(d_stream, begin, end))
            d_refiner.solve(d_stream, centre_of(b.f), b.hz, b.drift);
        prepare(b.f, d_refiner, frames[k]);
        if (decided)
            d_block.gain.add(frames[k], d_d.unknown);
    }
}

bool frame_tracker::disturbed() const
{
    return !d_true && d_block.narrow.wanted(sample_of(
                          static_cast<int64_t>(d_block.frames.front().f.begin)));
}

// Take carriers out of the rows of the block, by the data as far as they are known.
void frame_tracker::take_out_carriers()
{
    const auto begin = static_cast<int64_t>(d_block.frames.front().f.begin);
    const auto frame_symbols = static_cast<int64_t>(d_d.frame_symbols());
    const int64_t end =
        static_cast<int64_t>(d_block.frames.back().f.begin) + frame_symbols;
    std::vector<std::complex<float>> residual(static_cast<size_t>(2 * (end - begin)));
    for (const auto& b : d_block.frames) {
        d_refiner.solve(d_stream, centre_of(b.f), b.hz, b.drift);
        const auto first = static_cast<int64_t>(b.f.begin);
        d_refiner.residual(d_stream, first, first + frame_symbols, 2 * begin, residual);
    }
    d_block.narrow.take_out(d_stream, 2 * begin, residual);
    d_refiner.refresh(d_stream, 2 * begin, 2 * end, false);
    d_estimator.refresh(d_stream, 2 * begin, 2 * end, false);
}

// Drop the block, but keep its end: that helps to estimate the channel of the next block.
void frame_tracker::forget_block()
{
    if (d_block.frames.empty())
        return;
    const auto end =
        static_cast<int64_t>(d_block.frames.back().f.begin + d_d.frame_symbols());
    const int64_t oldest =
        end - static_cast<int64_t>(d_refiner.window_s() * d_d.symbol_rate_bd);
    d_refiner.forget_before(oldest);
    d_stream.drop_before(2 * end - 128);
    d_block.observed_again = false;
    d_block.frames.clear();
    d_beliefs.end_block();
}

} // namespace gr::hf::kernel
