/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/frame_tracker.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::hf::kernel {

namespace {

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

// Symbols of the preamble that are observed at once.
int64_t preamble_piece(const acquired& a)
{
    const description& d = *a.waveform;
    return std::min(static_cast<int64_t>(d.frame_symbols()),
                    symbol_grid(d.symbol_rate_bd).symbols(a.plan->preamble_piece_s));
}

frame_cursor cursor_at(const description& d, uint64_t frame)
{
    frame_cursor c(d);
    c.seek_frame(frame);
    return c;
}

size_t frames_in(const description& d, double seconds)
{
    return static_cast<size_t>(seconds * d.symbol_rate_bd /
                               static_cast<double>(d.frame_symbols()));
}

} // namespace

frame_tracker::frame_tracker(const acquired& a,
                             double lost_after_s,
                             std::unique_ptr<detector> det,
                             std::shared_ptr<const known_channel> known,
                             partner other)
    : d_d(*a.waveform), d_plan(*a.plan), d_a(a), d_grid(d_d.symbol_rate_bd),
      d_begin(static_cast<int64_t>(d_d.frame_begin(a.first_frame))),
      d_window_margin(
          static_cast<size_t>(d_grid.half_symbols(d_plan.frames.window_margin_s))),
      d_stream(d_grid,
               a.origin,
               2 * a.first_symbol - rows_before,
               a.frequency_hz,
               a.clock),
      d_estimator(estimator_options(a), a.profile, a.noise),
      d_refiner(refiner_options(a), a.profile, a.noise), d_loop(a.frequency_hz),
      d_clock(d_grid.half_symbol_rate()), d_steps(d_grid), d_level_begin(0),
      d_level_at(0),
      d_presence(std::max<size_t>(3, frames_in(d_d, lost_after_s)),
                 std::max<size_t>(2, frames_in(d_d, d_plan.frames.recent_s)),
                 d_plan.presence,
                 d_begin),
      d_detector(std::move(det)), d_other(std::move(other)),
      d_partial(a.first_frame % d_d.frames_per_block != 0), d_readings(d_d),
      d_to_observe(cursor_at(d_d, a.first_frame)),
      d_to_process(cursor_at(d_d, a.first_frame)), d_observing(d_to_observe.next()),
      d_processing(d_to_process.next()),
      // What is inserted before this frame belongs to the known symbols that it begins with.
      d_reinserted_done(a.first_frame > 0), d_preamble_at(a.first_symbol),
      d_observed(a.first_frame), d_processed(a.first_frame),
      d_symbol_power(d_d.alphabet.mean_power()), d_mean_signal(mean_power(d_d)),
      d_doppler(static_cast<double>(d_d.frame_symbols()) / d_d.symbol_rate_bd),
      d_fast_doppler(static_cast<double>(d_d.frame_symbols()) / d_d.symbol_rate_bd,
                     d_plan.clean_spread),
      d_preamble_doppler(static_cast<double>(preamble_piece(a)) / d_d.symbol_rate_bd),
      d_doppler_hz(a.frequency_hz), d_good_hz{ a.frequency_hz },
      d_doubtful(3 + frames_in(d_d, d_plan.frames.recent_s))
{
    // The start of the signal is no level step.
    const auto settled = static_cast<double>(d_grid.symbols(d_plan.frames.settled_s));
    d_level_begin = d_level_at = static_cast<int64_t>(
        d_stream.input_time(2 * (static_cast<double>(a.first_symbol) + settled)));
    if (known)
        d_true.emplace(std::move(known), a.profile.size());
    d_model.set_sub_block(d_plan.paces.front().sub_block);
    d_model.set_sparse(a.profile.size() > dense_delays);
    if (d_a.preamble.empty())
        for (const uint8_t number : d_d.preamble)
            d_a.preamble.push_back(d_d.known_points[number]);
    if (d_other.link)
        d_other.link->begin(d_other.side,
                            d_d,
                            sample_of(d_begin) / d_grid.sample_rate(),
                            a.joined || a.first_frame > 0);
}

frame_tracker::~frame_tracker()
{
    if (d_other.link)
        d_other.link->end(d_other.side);
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
    now.frequency_hz = d_good_hz.front();
    return now;
}

symbol_belief frame_tracker::belief(int64_t n) const
{
    const auto in_block = static_cast<size_t>(n - d_beliefs_begin);
    if (n >= d_beliefs_begin && in_block < d_beliefs.size())
        return d_beliefs[in_block];
    if (n < 0) {
        const auto length = static_cast<int64_t>(d_a.preamble.size());
        if (n >= -length)
            return { d_a.preamble[static_cast<size_t>(n + length)], 0 };
        return { 0, 1 };
    }
    const cell& c = d_d.at(static_cast<uint64_t>(n), d_readings.chosen());
    return is_known(c.kind) ? symbol_belief{ d_d.known_points[c.value], 0 }
                            : symbol_belief{ 0, 1 };
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

/* Undo level steps: they confuse 64-QAM amplitudes, and the channel is interpolated over
 * a time much longer than a step. */
void frame_tracker::follow_level(const sample_buffer& in)
{
    if (d_true || !d_plan.follows_level)
        return; // dense known symbols follow steps by themselves
    const auto& erased = in.erased();
    auto e = std::lower_bound(erased.begin(), erased.end(), d_level_at);
    for (; d_level_at < d_stream.needs(); ++d_level_at) {
        const bool known = e == erased.end() || e->sample != d_level_at;
        if (!known)
            ++e;
        const float power = d_level_at < in.begin() ? 0 : std::norm(*in.at(d_level_at));
        const auto step = known ? d_steps.push(power) : d_steps.push_unknown();
        if (!step)
            continue;
        const int64_t row =
            d_stream.rescale(d_level_begin + step->sample, 1 / std::sqrt(step->ratio));
        d_estimator.refresh(d_stream, row);
        d_refiner.refresh(d_stream, row);
    }
}

// Estimate around \p centre and tune the oscillator to the carrier.
void frame_tracker::follow(double centre)
{
    const double dt = std::clamp(
        (centre - d_centre) / d_d.symbol_rate_bd, 0.0, frequency_loop::longest_step_s);
    d_centre = centre;
    const double expected = d_loop.predict(dt);
    d_estimator.solve(d_stream, centre, expected, d_loop.rate());
    // In a fade the phase turns quickly at random.
    const double power = d_estimator.power();
    const bool present = d_estimator.explained() > d_plan.presence;
    if (d_mean_power <= 0)
        d_mean_power = power;
    else if (present)
        d_mean_power += dt * (power - d_mean_power);
    const double weight =
        present ? std::min(1.0, power / std::max(d_mean_power, 1e-30)) : 0;
    d_loop.update(d_estimator.frequency(), dt, weight);
    if (present)
        follow_clock();
    const auto turning = d_estimator.turning_within();
    d_loop.check(expected + turning.hz, turning.information);
    // Tune for the samples mixed next, which lie after the centre.
    const double ahead =
        (static_cast<double>(d_stream.end()) / 2 - centre) / d_d.symbol_rate_bd;
    const double next = d_loop.hz() + d_loop.rate() * ahead;
    if (std::abs(next - d_stream.frequency()) > d_plan.frames.retune_hz)
        d_stream.set_frequency(next);
}

/* With short symbols, ordinary clock differences move paths from tap to tap within the
 * estimator's window. Then the rows follow the sender's clock. */
void frame_tracker::follow_clock()
{
    if (d_true || !d_plan.follows_clock || d_estimator.momentary().empty())
        return;
    const double at = d_estimator.momentary_at();
    if (at <= d_clock_at)
        return;
    d_clock_at = at;
    d_clock.add(
        d_estimator.momentary(), at / d_d.symbol_rate_bd, d_stream.clock_at(2 * at));
    const double rows = (d_clock.difference() - d_stream.clock()) *
                        d_grid.half_symbol_rate() * d_estimator.window_s();
    if (std::abs(rows) > d_plan.frames.clock_rows)
        d_stream.set_clock(d_clock.difference());
}

/* Observe the next stretch of known symbols: pieces of the preamble, then each probe. A
 * reinserted preamble is a stretch of its own, since it may not come. */
bool frame_tracker::observe_next(const sample_buffer& in)
{
    if (d_preamble_at < d_begin) {
        const int64_t piece = preamble_piece(d_a);
        if (d_preamble_at == d_a.first_symbol && d_plan.learns_delays && d_begin == 0) {
            const int64_t learned =
                static_cast<int64_t>(d_plan.frames.learn_pieces) * piece;
            d_stream.run(in, 0);
            const int64_t heard =
                std::min<int64_t>({ 0, d_stream.end() / 2, d_preamble_at + learned });
            const int rows = d_estimator.learn(
                d_stream, d_preamble_at, heard, piece, [this](int64_t n) {
                    return belief(n);
                });
            if (rows != 0) {
                d_stream.move(rows);
                d_a.first_tap = d_window_margin;
            }
        }
        const int64_t end = std::min(d_begin, d_preamble_at + piece);
        if (!observe(in, d_preamble_at, end, true))
            return false;
        d_centre = static_cast<double>(d_preamble_at);
        follow(static_cast<double>(d_preamble_at + end) / 2);
        carrier_turn(static_cast<double>(d_preamble_at + end) / 2);
        d_preamble_at = end;
        if (end == d_begin && d_preamble_doppler.added() > 0)
            choose_pace(d_preamble_doppler.spread_hz());
        return true;
    }
    const auto begin = static_cast<int64_t>(d_observing.begin);
    if (d_observing.reinserted > 0 && !d_reinserted_done) {
        if (!observe(
                in, begin - static_cast<int64_t>(d_observing.reinserted), begin, true))
            return false;
        d_reinserted_done = true;
        return true;
    }
    const int64_t probe = begin + static_cast<int64_t>(d_d.unknown);
    if (d_readings.differ(d_observing.frame_in_cycle)) {
        const int64_t last_row = 2 * (probe + static_cast<int64_t>(d_d.known)) +
                                 static_cast<int64_t>(d_a.profile.size());
        d_stream.run(in, last_row);
        if (d_stream.end() < last_row)
            return false;
        d_readings.hear(d_stream, probe, d_observing.frame_in_cycle, d_estimator);
    }
    if (!observe(in, probe, probe + static_cast<int64_t>(d_d.known), false))
        return false;
    d_observing = d_to_observe.next();
    d_reinserted_done = false;
    ++d_observed;
    return true;
}

std::optional<received_block> frame_tracker::advance(const sample_buffer& in)
{
    for (;;) {
        if (d_block_complete)
            return end_block();
        const uint64_t ahead = d_observed - d_processed;
        const bool enough = ahead > d_plan.look_ahead ||
                            (ahead > 0 && d_processed / d_d.frames_per_block !=
                                              d_observed / d_d.frames_per_block);
        if (!enough) {
            if (!observe_next(in))
                return std::nullopt;
            continue;
        }
        const frame f = d_processing;
        d_processing = d_to_process.next();
        ++d_processed;
        process(f);
        keep_paths_in_window();
        if (!d_detector->iterates())
            d_stream.drop_before(2 * static_cast<int64_t>(f.begin) - 64);
        if (f.last_of_block && d_partial)
            forget_part();
        else
            d_block_complete = f.last_of_block;
    }
}

// What came of a block whose begin is not known.
void frame_tracker::forget_part()
{
    d_partial = false;
    d_detector->forget();
    forget_block();
    d_gain_sum = 0;
    d_gain_count = 0;
    if (d_details)
        keep_details();
}

// Empty: the other antenna is waited for.
std::optional<received_block> frame_tracker::end_block()
{
    std::optional<decoded_block> decoded;
    if (d_other.link)
        decoded =
            d_other.link->decode(d_other.side, d_block_number, *d_other.detector, *this);
    else
        decoded = d_detector->end_block(*this);
    if (!decoded)
        return std::nullopt;
    d_block_complete = false;
    ++d_block_number;
    received_block b;
    b.decoded = std::move(*decoded);
    forget_block();
    b.channel.snr_db = snr_in_bandwidth(
        d_gain_sum / static_cast<double>(d_gain_count) * d_mean_signal, d_d);
    b.channel.freq_offset_hz = d_loop.hz();
    b.channel.doppler_hz = d_doppler.take_spread_hz();
    if (d_pace > 0)
        b.channel.doppler_hz = d_fast_doppler.spread_hz();
    b.channel.coded_ber = b.decoded.coded_ber;
    describe_delays(d_estimator.profile(), d_grid, b.channel);
    d_gain_sum = 0;
    d_gain_count = 0;
    if (d_details) {
        b.details = std::move(d_details);
        keep_details();
    }
    return b;
}

void frame_tracker::keep_details()
{
    d_details = std::make_shared<block_details>();
    d_detector->write_details_to(d_details.get());
}

void frame_tracker::process(const frame& f)
{
    const auto begin = static_cast<int64_t>(f.begin);
    follow(centre_of(f));
    const int64_t end =
        begin + static_cast<int64_t>(d_d.unknown) + static_cast<int64_t>(d_d.known);
    d_presence.add(d_estimator.explained(), end);
    if (d_presence.now())
        d_good_hz.push_back(d_loop.hz());
    if (d_good_hz.size() > d_doubtful)
        d_good_hz.pop_front();
    // What the presence rests on at first is the preamble.
    const int64_t probe = begin + static_cast<int64_t>(d_d.unknown);
    d_heard = d_heard || d_estimator.explained_of(d_stream, probe) > d_plan.presence;

    measure_doppler(centre_of(f));
    prepare(f, d_estimator, d_frame);
    count_gain(d_frame);
    if (d_detector->iterates())
        d_block.push_back({ f, d_loop.hz(), d_loop.rate() });
    d_detector->frame(d_frame);
}

void frame_tracker::count_gain(const frame_observation& o)
{
    double gain = 0;
    for (size_t i = 0; i < d_d.unknown; ++i)
        gain += o.energy(i);
    d_gain_sum += gain / static_cast<double>(d_d.unknown) / o.noise;
    ++d_gain_count;
}

void frame_tracker::keep_paths_in_window()
{
    const int rows = window_error(d_estimator.profile(), d_window_margin);
    if (rows == 0)
        return;
    d_stream.move(rows);
    d_estimator.move(rows);
    d_refiner.move(rows);
    d_doppler.move(rows);
    d_fast_doppler.move(rows);
    d_preamble_doppler.move(rows);
    d_clock.move(rows);
}

// Turn that refers taps of the last solve to the carrier followed by the loop.
std::complex<float> frame_tracker::carrier_turn(double centre)
{
    const double hz = d_loop.hz(), seconds = (centre - d_doppler_at) / d_d.symbol_rate_bd;
    d_carrier_turns += (hz + d_doppler_hz) / 2 * seconds;
    d_carrier_turns -= std::floor(d_carrier_turns);
    d_doppler_at = centre;
    d_doppler_hz = hz;
    const double turns = d_stream.phase(2 * d_estimator.centre()) - d_carrier_turns;
    const auto turn =
        std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
    if (d_plan.paces.size() > 1 && !d_estimator.momentary().empty()) {
        auto taps = d_estimator.momentary();
        for (auto& g : taps)
            g *= turn;
        if (d_preamble_at < d_begin &&
            preamble_piece(d_a) < static_cast<int64_t>(d_d.frame_symbols())) {
            d_preamble_doppler.add(std::move(taps));
            return turn;
        }
        d_fast_doppler.add(std::move(taps));
        if (++d_since_look >= d_plan.frames.look_every) {
            d_since_look = 0;
            choose_pace(d_fast_doppler.spread_hz());
            d_fast_doppler.forget(d_plan.frames.still_counts);
        }
    }
    return turn;
}

// \p hz is the Doppler spread that a meter reports.
void frame_tracker::choose_pace(double hz)
{
    size_t pace = 0;
    const auto& paces = d_plan.paces;
    for (size_t k = 1; k < paces.size(); ++k)
        if (hz >= paces[k].from_hz * (k <= d_pace ? d_plan.back_at : 1))
            pace = k;
    if (pace == d_pace)
        return;
    d_pace = pace;
    d_estimator.set_pace(paces[pace].pace);
    d_refiner.set_pace(refined(paces[pace]));
    d_model.set_sub_block(paces[pace].sub_block);
    d_loop.set_spread(paces[pace].pace.spread_hz);
}

void frame_tracker::measure_doppler(double centre)
{
    const auto turn = carrier_turn(centre);
    channel_taps g;
    d_estimator.at(centre, g);
    std::vector<std::complex<float>> taps(d_estimator.profile().size());
    for (size_t a = 0; a < g.size(); ++a)
        taps[d_estimator.selected()[a]] = g[a] * turn;
    if (d_details)
        d_details->taps.insert(d_details->taps.end(), taps.begin(), taps.end());
    d_doppler.add(std::move(taps));
}

void frame_tracker::prepare(const frame& f,
                            const channel_view& estimated,
                            frame_observation& o)
{
    if (d_true)
        d_true->look(d_stream, centre_of(f));
    const channel_view& channel = d_true ? *d_true : estimated;
    o.alphabet = &d_d.alphabet;
    o.scrambling.resize(d_d.unknown);
    for (size_t i = 0; i < d_d.unknown; ++i)
        o.scrambling[i] = f.data[i].value;
    o.noise = channel.noise();
    o.symbol_power = static_cast<float>(d_symbol_power);
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
    d_beliefs_begin = static_cast<int64_t>(d_block.front().f.begin);
    d_beliefs.clear();
    size_t at = 0;
    for (const auto& b : d_block) {
        d_beliefs.insert(d_beliefs.end(),
                         beliefs.begin() + static_cast<long>(at),
                         beliefs.begin() + static_cast<long>(at + d_d.unknown));
        at += d_d.unknown;
        for (size_t i = 0; i < d_d.known; ++i)
            d_beliefs.push_back({ d_d.known_point(d_d.at(b.f.begin + d_d.unknown + i,
                                                         d_readings.chosen())),
                                  0 });
    }
    // With the data known, the noise can be measured better.
    d_refiner.set_statistics(d_estimator.profile(),
                             d_again ? d_refiner.noise() : d_estimator.noise());
    d_again = true;
    double variance = 0;
    for (const symbol_belief& b : beliefs)
        variance += b.variance;
    const bool decided = variance < d_plan.frames.guessed * d_symbol_power *
                                        static_cast<double>(beliefs.size());
    if (decided) {
        d_gain_sum = 0;
        d_gain_count = 0;
    }
    d_refiner.forget_from(d_beliefs_begin);
    const auto about = [this](int64_t n) { return belief(n); };
    const int64_t piece = d_grid.symbols(d_plan.frames.data_piece_s);
    for (const auto& b : d_block) {
        const auto begin = static_cast<int64_t>(b.f.begin);
        const int64_t end = begin + static_cast<int64_t>(d_d.frame_symbols());
        for (int64_t n = begin; n < end; n += piece)
            d_refiner.observe(d_stream, n, std::min(end, n + piece), about, true);
    }
    frames.resize(d_block.size());
    for (size_t k = 0; k < d_block.size(); ++k) {
        const auto& b = d_block[k];
        d_refiner.solve(d_stream, centre_of(b.f), b.hz, b.drift);
        const auto begin = static_cast<int64_t>(b.f.begin);
        const int64_t end = begin + static_cast<int64_t>(d_d.frame_symbols());
        if (!d_true && d_refiner.find_interference(d_stream, begin, end))
            d_refiner.solve(d_stream, centre_of(b.f), b.hz, b.drift);
        prepare(b.f, d_refiner, frames[k]);
        if (decided)
            count_gain(frames[k]);
    }
}

double frame_tracker::centre_of(const frame& f) const
{
    return static_cast<double>(f.begin) + static_cast<double>(d_d.unknown) / 2 - 0.5;
}

// Drop the block, but keep its end: that helps to estimate the channel of the next block.
void frame_tracker::forget_block()
{
    if (d_block.empty())
        return;
    const auto end = static_cast<int64_t>(d_block.back().f.begin + d_d.frame_symbols());
    const int64_t oldest =
        end - static_cast<int64_t>(d_refiner.window_s() * d_d.symbol_rate_bd);
    d_refiner.forget_before(oldest);
    d_stream.drop_before(2 * end - 128);
    d_again = false;
    d_block.clear();
    d_beliefs.clear();
}

} // namespace gr::hf::kernel
