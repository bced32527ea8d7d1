/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effect of a number of the reception plans: receives the same transmissions over the
 * same channel with each of the given values, all else unchanged.
 *     plan_probe NAME VALUE,VALUE... MODE CHANNEL SECONDS [SEED [BURSTS [EFFORT]]]
 * NAME is one of numbers() below, CHANNEL a channel_spec in quotes, SECONDS the length of
 * one transmission. The first line has the value in the plans. */
#include "modem/loopback.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>

namespace {

using namespace gr::hf;
using namespace gr::hf::kernel;

//! Both plans of a family: for finding preambles, and for following transmissions.
struct plans {
    synchroniser_plan find;
    reception_plan follow;
};
//! Sets a number.
using setter = std::function<void(plans&, double)>;

template <typename F>
setter number(F of)
{
    return [of](plans& p, double v) {
        auto& x = of(p);
        x = static_cast<std::decay_t<decltype(x)>>(v);
    };
}

#define HF_FIND(name)                                                 \
    {                                                                 \
#name, number([](plans & p) -> auto& { return p.find.name; }) \
    }
#define HF_FOLLOW(part, name)                                                \
    {                                                                        \
#name, number([](plans & p) -> auto& { return p.follow.part.name; }) \
    }

const std::map<std::string, setter>& numbers()
{
    static const std::map<std::string, setter> all{
        HF_FIND(strong_delay),
        HF_FIND(least_path),
        HF_FIND(least_path_over_noise),
        HF_FIND(certain_tap),
        HF_FIND(first_path),
        HF_FOLLOW(estimator, least_tap_over_noise),
        HF_FOLLOW(estimator, path_found),
        HF_FOLLOW(walsh, recent_sets),
        HF_FOLLOW(walsh, least_sets),
        HF_FOLLOW(walsh, overlap),
        HF_FOLLOW(walsh, by_chance),
        HF_FOLLOW(walsh, present),
        HF_FOLLOW(walsh, level_rises),
        HF_FOLLOW(walsh, level_falls),
        HF_FOLLOW(walsh, profile_share),
        HF_FOLLOW(walsh, noise_share),
        HF_FOLLOW(walsh, sets_per_update),
        HF_FOLLOW(walsh, in_step),
        HF_FOLLOW(walsh, least_error_hz),
        HF_FOLLOW(walsh, correction),
        HF_FOLLOW(walsh, widest_average),
    };
    return all;
}

//! Plans with one number changed. Results of preambles outlive the receiver, so they are
//! kept.
class changed_plans
{
public:
    //! \param value none: nothing is changed
    changed_plans(const setter& s, std::optional<double> value) : d_set(s), d_value(value)
    {
    }
    synchroniser_plan find(const synchroniser_plan& p)
    {
        plans both{ p, {} };
        set(both);
        return both.find;
    }
    const reception_plan* follow(const reception_plan* p)
    {
        const auto [at, is_new] = d_kept.emplace(p, *p);
        if (is_new) {
            plans both{ {}, *p };
            set(both);
            at->second = both.follow;
        }
        return &at->second;
    }

private:
    void set(plans& p) const
    {
        if (d_value)
            d_set(p, *d_value);
    }

    const setter& d_set;
    std::optional<double> d_value;
    std::map<const reception_plan*, reception_plan> d_kept;
};

//! The family's reader, with other plans.
class reader_of_changed : public preamble_reader
{
public:
    reader_of_changed(std::unique_ptr<preamble_reader> r, changed_plans& c)
        : d_reader(std::move(r)), d_changed(c)
    {
    }
    const preamble_stretch& stretch() const override { return d_reader->stretch(); }
    verdict read(const preamble_evidence& e) override { return d_reader->read(e); }
    preamble_meaning meaning() const override
    {
        auto m = d_reader->meaning();
        if (m.plan != nullptr)
            m.plan = d_changed.follow(m.plan);
        return m;
    }

private:
    std::unique_ptr<preamble_reader> d_reader;
    changed_plans& d_changed;
};

struct tally {
    size_t bursts = 0, found = 0, bits = 0, errors = 0, bad = 0;
};

struct task {
    mode m;
    std::string channel;
    double seconds;
    uint64_t seed;
    int bursts, effort;
};

tally receive_all(const task& t, changed_plans& changed)
{
    std::vector<family_reception> families;
    for (const family_reception* f : receptions(t.m.bandwidth_hz)) {
        families.push_back(*f);
        families.back().synchroniser = changed.find(f->synchroniser);
        families.back().reader = [f, &changed](size_t pattern, const reading_options& o) {
            return std::make_unique<reader_of_changed>(f->reader(pattern, o), changed);
        };
    }
    std::vector<const family_reception*> given;
    for (const auto& f : families)
        given.push_back(&f);

    const auto timing = timing_of(t.m);
    const double blocks =
        t.seconds * timing.symbol_rate_bd / double(timing.block_symbols);
    const size_t octets = std::max<size_t>(
        1, timing.octets_in(std::max<size_t>(1, static_cast<size_t>(blocks))));
    const double rate = loopback::sample_rate(t.m);
    rx_options options;
    options.effort = t.effort;
    tally sum;
    for (int b = 0; b < t.bursts; ++b) {
        const uint64_t seed = t.seed * 1000 + static_cast<uint64_t>(b);
        const auto sent = loopback::random_octets(octets, seed);
        loopback::samples x(static_cast<size_t>(rate / 2) + 37 * static_cast<size_t>(b));
        const auto signal = loopback::transmit(t.m, sent);
        x.insert(x.end(), signal.begin(), signal.end());
        loopback::pause(x, static_cast<size_t>(2.5 * rate));
        x = loopback::through(x, t.channel, seed, mean_power(t.m), rate);
        burst_receiver rx(options, given);
        const auto got = loopback::receive(rx, x);
        ++sum.bursts;
        sum.bits += 8 * sent.size();
        const bool right =
            !got.empty() && got.front().start && got.front().start->m == t.m;
        sum.found += right;
        size_t errors = right ? 0 : 4 * sent.size();
        for (size_t k = 0; right && k < sent.size(); ++k)
            errors += k < got.front().octets.size()
                          ? static_cast<size_t>(
                                __builtin_popcount(sent[k] ^ got.front().octets[k]))
                          : 4;
        sum.errors += errors;
        sum.bad += errors > 0;
    }
    return sum;
}

int measure(int argc, char** argv)
{
    const auto a = numbers().find(argv[1]);
    if (a == numbers().end()) {
        std::string names;
        for (const auto& n : numbers())
            names += " " + n.first;
        throw std::invalid_argument(std::string(argv[1]) + ": expected one of" + names);
    }
    const task t{ mode::parse(argv[3]),
                  argv[4],
                  std::atof(argv[5]),
                  argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 1,
                  argc > 7 ? std::atoi(argv[7]) : 1,
                  argc > 8 ? std::atoi(argv[8]) : 1 };
    std::vector<std::optional<double>> values{ std::nullopt };
    for (const char* p = argv[2]; *p != 0;) {
        char* end = nullptr;
        values.emplace_back(std::strtod(p, &end));
        if (end == p)
            throw std::invalid_argument(std::string(p) + ": expected a number");
        p = *end == ',' ? end + 1 : end;
    }
    for (const auto& v : values) {
        changed_plans changed(a->second, v);
        const tally s = receive_all(t, changed);
        std::string value = v ? argv[1] : "as it is";
        if (v) {
            char text[32];
            std::snprintf(text, sizeof text, " %g", *v);
            value += text;
        }
        std::printf("%s: found %zu of %zu; errors %zu of %zu bits, ber %.2e; "
                    "transmissions with errors %zu\n",
                    value.c_str(),
                    s.found,
                    s.bursts,
                    s.errors,
                    s.bits,
                    double(s.errors) / double(s.bits),
                    s.bad);
        std::fflush(stdout);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 6) {
        std::fprintf(stderr,
                     "usage: plan_probe NAME VALUE,VALUE... MODE CHANNEL SECONDS [SEED "
                     "[BURSTS [EFFORT]]]\n");
        return 2;
    }
    try {
        return measure(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "plan_probe: %s\n", e.what());
        return 2;
    }
}
