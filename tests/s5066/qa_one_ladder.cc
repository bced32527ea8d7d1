/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Rate adaptation in 3 kHz over the modes of STANAG 4539 and 5069, with peers that read
// both and with peers that read 4539 alone.
#include "s5066/cas/link_window.h"
#include "s5066/pdu/eow.h"
#include "s5066/rate/adaptive_rate.h"
#include "s5066/rate/failed_modes.h"
#include "s5066/rate/mode_ladder.h"
#include "s5066/rate/mode_promise.h"
#include "scripted_peer.h"
#include "sim/two_stations.h"

#include <gtest/gtest.h>

#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

const address there("1.2.0.0");

bool of_5069(const mode& m) { return m.family == waveform_family::wideband; }
bool is_robust(const mode& m) { return m.family == waveform_family::robust; }

tx_context context(unsigned silent_rounds, bool ack_only)
{
    tx_context c;
    c.peer = there;
    c.backlog_octets = ack_only ? 0 : 100000;
    c.ack_only = ack_only;
    c.silent_rounds = silent_rounds;
    return c;
}

reception heard(const char* m, double snr_db)
{
    reception r;
    r.m = mode::parse(m);
    r.block_snr_db.assign(10, snr_db);
    r.good_d_pdus = 20;
    r.d_pdu_octets = 300;
    return r;
}

// Number of modes of 5069 that the policy chooses, of 24 kinds of transmissions.
unsigned chosen_of_5069(adaptive_rate_policy& p)
{
    unsigned count = 0;
    for (const double snr_db : { -6.0, 4.0, 14.0, 24.0 }) {
        p.on_reception({}, there, heard("4539-600S", snr_db));
        for (const unsigned silent : { 0, 1, 2 }) {
            count += of_5069(p.choose({}, context(silent, false)));
            count += of_5069(p.choose({}, context(silent, true)));
        }
    }
    return count;
}

// Window of the link request that a node in this mode sends.
uint16_t window_asked(const std::string& mode_text, bool drc = false)
{
    node_config c;
    c.mode = mode_text;
    c.drc = drc;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100);
    const auto calls = of_type(p.transmission(60), d_pdu_type::expedited_non_arq_data);
    return calls.empty() ? 0 : calls.front().non_arq.window;
}

struct transfer {
    double bps;
    std::set<std::string> heard; // modes, by both stations
    unsigned of_5069() const { return of("5069"); }
    unsigned robust() const { return of("grhf"); }
    unsigned of(const std::string& standard) const
    {
        return static_cast<unsigned>(
            std::count_if(heard.begin(), heard.end(), [&](auto& m) {
                return m.compare(0, standard.size(), standard) == 0;
            }));
    }
};

transfer
between(const std::string& a, const std::string& b, double snr_db, size_t octets = 150000)
{
    sim::air_path path;
    path.snr_db = snr_db;
    const auto& steady = measured_block_errors("awgn");
    path.blocks = std::shared_ptr<const block_error_curves>(&steady, [](auto*) {});
    sim::two_stations net(sim::test_config(1, a), sim::test_config(2, b), path);
    transfer t;
    for (sim::station* s : { &net.a, &net.b }) {
        s->node().set_trace(true);
        s->on_trace = [&t](const log_record& l) {
            const std::string words = "receiving ";
            if (l.text.compare(0, words.size(), words) == 0)
                t.heard.insert(l.text.substr(words.size()));
        };
    }
    t.bps = net.goodput(octets, 1000, 3600);
    return t;
}

} // namespace

TEST(one_ladder, leaves_out_modes_that_are_the_best_nowhere)
{
    const auto all = rate_range::parse("auto")->modes();
    const auto ladder = ladder_of(all);
    EXPECT_LT(ladder.size(), 0.6 * double(all.size()));
    const auto best = [](const std::vector<mode>& modes, size_t c, double snr_db) {
        double most = 0;
        for (const mode& m : modes) {
            const auto& t = mode_promises::of(m);
            const auto& bps = t.at(c, snr_db + t.power_db()).goodput_bps;
            most = std::max(most, *std::max_element(bps.begin(), bps.end()));
        }
        return most;
    };
    unsigned compared = 0;
    for (size_t c = 0; c < channel_classes; ++c)
        for (double snr_db = -10; snr_db <= 40; snr_db += 0.5) {
            const double most = best(all, c, snr_db);
            if (most > 10) {
                EXPECT_GE(best(ladder, c, snr_db), 0.98 * most) << c << ": " << snr_db;
                ++compared;
            }
        }
    EXPECT_GT(compared, 400u);
    // Nearly none more can be left out: each is the best one somewhere. One that is worth
    // 2 % of all modes may be worth less beside the rest.
    EXPECT_GE(ladder_of(ladder).size() + 1, ladder.size());
    EXPECT_EQ(ladder_of({ all.front() }), std::vector<mode>{ all.front() });
}

TEST(one_ladder, a_mode_that_failed_is_not_advised_the_longer_the_more_often)
{
    const mode slow = mode::parse("5069-3k-1200S"), fast = mode::parse("5069-3k-8000S");
    const mode faster = mode::parse("5069-3k-9600S"), other = mode::parse("4539-8000S");
    failed_modes f;
    EXPECT_TRUE(f.allows(fast, 28));
    for (const unsigned waits : { 1u, 2u, 4u, 8u, 16u, 32u, 64u, 64u }) {
        f.on_reception(fast, true, 28);
        for (unsigned k = 0; k < waits; ++k) {
            EXPECT_FALSE(f.allows(fast, 28)) << waits << ", " << k;
            EXPECT_FALSE(f.allows(faster, 28));
            EXPECT_TRUE(f.allows(slow, 28));
            EXPECT_TRUE(f.allows(other, 28)) << "the other standard";
            EXPECT_TRUE(f.allows(fast, 32)) << "a better channel";
            f.on_reception(slow, false, 28);
        }
        EXPECT_TRUE(f.allows(fast, 28)) << waits;
    }
    f.on_reception(fast, false, 28); // works again: from scratch
    f.on_reception(fast, true, 28);
    f.on_reception(slow, false, 28);
    EXPECT_TRUE(f.allows(fast, 28));
}

TEST(one_ladder, fast_fading_gets_4539)
{
    adaptive_rate_policy p(*rate_range::parse("auto"));
    p.on_modes_read(there, { true, false });
    const auto advised = [&](double doppler_hz) {
        for (int k = 0; k < 6; ++k) {
            auto r = heard("4539-600S", 2);
            r.doppler_hz = doppler_hz;
            // Blocks of 0.6 s: slow fades make them differ.
            for (size_t b = 0; b < r.block_snr_db.size(); ++b)
                r.block_snr_db[b] += (b % 2 ? 1 : -1) * (doppler_hz < 5 ? 3 : 0.5);
            p.on_reception({}, there, r);
        }
        return *p.advice(there);
    };
    EXPECT_TRUE(of_5069(advised(1)));
    p.on_new_channel(there);
    EXPECT_FALSE(of_5069(advised(10)));
}

TEST(one_ladder, the_first_minute_on_a_steady_channel_has_short_transmissions)
{
    // Longest one after this many seconds of acknowledged data in \p m.
    const auto after = [](const char* m, double acknowledged_s, double doppler_hz = 0) {
        adaptive_rate_policy p(*rate_range::parse("auto"));
        p.on_modes_read(there, { true, false });
        const mode in = mode::parse(m);
        for (int k = 0; k < 6; ++k) {
            auto r = heard("4539-600S", 22);
            r.doppler_hz = doppler_hz;
            for (size_t b = 0; b < r.block_snr_db.size(); ++b)
                r.block_snr_db[b] += doppler_hz * (b % 2 ? 3 : -3);
            p.on_reception({}, there, r);
        }
        p.on_advice({}, there, in);
        EXPECT_EQ(p.choose({}, context(0, false)), in);
        const auto d_pdus = static_cast<unsigned>(acknowledged_s * in.rate_bps / 8 / 300);
        p.on_frames({}, there, { in, d_pdus, 0, 300 });
        p.choose({}, context(0, false));
        return p.longest_s(context(0, false));
    };
    EXPECT_EQ(after("5069-3k-12000S-k9", 10), 40);
    EXPECT_EQ(after("5069-3k-12000S-k9", 59), 40);
    EXPECT_EQ(after("5069-3k-12000S-k9", 61), 127.5);
    EXPECT_EQ(after("5069-3k-16000S-k9", 10), 127.5); // none is faster
    EXPECT_EQ(after("4539-8000S", 10), 127.5);
    EXPECT_EQ(after("5069-3k-12000S-k9", 10, 1), 127.5);
}

TEST(one_ladder, a_peer_that_has_shown_nothing_gets_4539)
{
    adaptive_rate_policy p(*rate_range::parse("auto"));
    EXPECT_EQ(chosen_of_5069(p), 0u);
    EXPECT_FALSE(of_5069(*p.advice(there)));
    p.on_modes_read(there, { true, false });
    EXPECT_GE(chosen_of_5069(p), 4u); // one at each SNR
    p.on_reception({}, there, heard("4539-600S", 24));
    EXPECT_TRUE(of_5069(*p.advice(there)));
    EXPECT_GT(p.advice(there)->rate_bps, 9600);
    // Another channel, the same station.
    p.on_new_channel(there);
    p.on_reception({}, there, heard("4539-600S", 24));
    EXPECT_TRUE(of_5069(*p.advice(there)));
    // It has restarted without them. Its last advice no longer counts.
    p.on_advice({}, there, mode::parse("5069-3k-12000S"));
    p.on_modes_read(there, {});
    EXPECT_EQ(chosen_of_5069(p), 0u);
    EXPECT_FALSE(of_5069(*p.advice(there)));
}

TEST(one_ladder, robust_modes_go_to_peers_that_have_shown_to_read_them)
{
    // Data and acknowledgements at -14 to 14 dB.
    const auto robust_chosen = [](modes_read r, double snr_db) {
        adaptive_rate_policy p(*rate_range::parse("auto"));
        p.on_modes_read(there, r);
        p.on_reception({}, there, heard("4539-600S", snr_db));
        unsigned count = is_robust(*p.advice(there));
        for (const bool ack_only : { false, true })
            count += is_robust(p.choose({}, context(0, ack_only)));
        return count;
    };
    for (const double snr_db : { -14.0, -12.0, -10.0, 0.0, 14.0 }) {
        EXPECT_EQ(robust_chosen({}, snr_db), 0u) << snr_db;
        EXPECT_EQ(robust_chosen({ true, false }, snr_db), 0u) << snr_db;
        for (const bool of_5069 : { false, true }) {
            const unsigned count = robust_chosen({ of_5069, true }, snr_db);
            EXPECT_GE(count, snr_db < 0 ? 2u : 0u) << snr_db;
            EXPECT_LE(count, snr_db < 0 ? 3u : 0u) << snr_db;
        }
    }
}

TEST(one_ladder, two_of_our_stations_use_robust_modes_below_0_db)
{
    // Peak power is that of 9600 bit/s of 4539.
    const double auto_db = -10 - mode_promises::of(mode::parse("4539-9600S")).power_db();
    const auto both = between("auto", "auto", auto_db, 20000);
    EXPECT_GE(both.robust(), 1u);
    EXPECT_GE(both.bps, 130);
    const auto one = between("auto:4539", "auto", auto_db, 20000);
    EXPECT_EQ(one.robust(), 0u);
    EXPECT_LT(one.bps, 0.6 * both.bps);
    EXPECT_EQ(between("auto", "auto", 14).robust(), 0u);
}

TEST(one_ladder, a_peer_that_falls_silent_is_called_in_4539)
{
    adaptive_rate_policy p(*rate_range::parse("auto"));
    p.on_modes_read(there, { true, false });
    p.on_reception({}, there, heard("4539-600S", 14));
    p.on_advice({}, there, mode::parse("5069-3k-8000S"));
    EXPECT_EQ(p.choose({}, context(0, false)), mode::parse("5069-3k-8000S"));
    for (unsigned silent = 2; silent < 8; ++silent) {
        p.on_silence({}, there);
        const mode m = p.choose({}, context(silent, false));
        EXPECT_FALSE(of_5069(m)) << silent << ": " << m.to_string();
    }
}

TEST(one_ladder, advice_in_eow_8_names_constraint_length_and_robust_modes)
{
    EXPECT_EQ(*encode_rate_advice(mode::parse("grhf-50S")), 0x805);
    EXPECT_EQ(*encode_rate_advice(mode::parse("grhf-300L")), 0x84d);
    EXPECT_FALSE(decode_rate_advice(0x855, 3000)) << "a sixth robust rate";
    EXPECT_FALSE(decode_rate_advice(0x84d, 6000)) << "robust modes have 3 kHz";
    EXPECT_EQ(*encode_rate_advice(mode::parse("5069-3k-16000L")), 0x8de);
    EXPECT_EQ(*encode_rate_advice(mode::parse("5069-3k-16000L-k9")), 0x8df);
    EXPECT_EQ(decode_rate_advice(0x8df, 3000), mode::parse("5069-3k-16000L-k9"));
    std::set<uint16_t> codes;
    for (const mode& m : rate_range::parse("auto")->modes()) {
        const auto eow = encode_rate_advice(m);
        ASSERT_TRUE(eow) << m.to_string();
        EXPECT_TRUE(codes.insert(*eow).second) << m.to_string();
        EXPECT_EQ(decode_rate_advice(*eow, 3000), m);
    }
}

TEST(one_ladder, link_control_shows_what_a_station_reads)
{
    const auto shown = [](const char* m, bool drc = false) {
        const uint16_t window = window_asked(m, drc);
        EXPECT_NE(window, 0) << m;
        const auto r = modes_shown(window);
        return std::pair(r.of_5069, r.robust);
    };
    for (const char* both : { "auto", "auto:75..1200" })
        EXPECT_EQ(shown(both), std::pair(true, true)) << both;
    for (const char* one : { "auto:5069", "5069-3k-600S" })
        EXPECT_EQ(shown(one), std::pair(true, false)) << one;
    EXPECT_EQ(shown("grhf-200L"), std::pair(false, true));
    for (const char* none : { "auto:4539", "4539-600S", "auto:48k", "5069-6k-1200S" })
        EXPECT_EQ(shown(none), std::pair(false, false)) << none;
    EXPECT_EQ(shown("auto", true), std::pair(false, false)) << "a rate change by EOW";
    // The other meanings stay.
    for (const uint16_t w : { naming_window, has_large_window, large_window_mark }) {
        EXPECT_FALSE(modes_shown(w).any());
        EXPECT_EQ(without_modes(w), w);
        for (const modes_read r :
             { modes_read{ true, false }, { false, true }, { true, true } }) {
            const uint16_t marked = with_modes(w, r);
            EXPECT_EQ(modes_shown(marked).of_5069, r.of_5069) << marked;
            EXPECT_EQ(modes_shown(marked).robust, r.robust) << marked;
            EXPECT_EQ(without_modes(marked), w);
        }
    }
    EXPECT_TRUE(modes_shown(with_modes(link_window, { true, false })).of_5069);
    EXPECT_EQ(with_modes(link_window, {}), link_window);
    unsigned known = 0;
    for (unsigned w = 0; w <= 0xffff; ++w)
        known += modes_shown(static_cast<uint16_t>(w)).any();
    EXPECT_EQ(known, 9u);
}

TEST(one_ladder, a_peer_that_refuses_eow_8_gets_eow_1)
{
    node_config c;
    c.mode = "auto";
    scripted_peer p(c);
    p.bind(1, 3);
    p.snr_db = 20;
    p.peer_mode = mode::parse("4539-600S");
    auto request = scripted_peer::link(c_pdu_type::link_request);
    request.non_arq.window = with_modes(has_large_window, { true, false });
    const auto advised = [&p] {
        unsigned kind = 0;
        for (const d_pdu& d : p.transmission(60))
            kind = d.eow != 0 ? eow_kind(d.eow) : kind;
        return kind;
    };
    p.receive({ request, scripted_peer::data(0, 200) });
    EXPECT_EQ(advised(), 8u);
    auto refusal = scripted_peer::data(1, 200);
    refusal.eow = make_eow(eow_type::unrecognised, 8);
    p.receive({ refusal });
    EXPECT_EQ(advised(), 1u);
}

TEST(one_ladder, two_of_our_stations_use_5069_where_it_is_better)
{
    for (const double snr_db : { 1.0, 24.0 }) {
        const size_t octets = snr_db > 10 ? 1000000 : 150000;
        const auto both = between("auto", "auto", snr_db, octets);
        const auto one = between("auto:4539", "auto:4539", snr_db, octets);
        EXPECT_GE(both.of_5069(), 1u) << snr_db;
        EXPECT_EQ(one.of_5069(), 0u) << snr_db;
        EXPECT_GT(both.bps, 1.15 * one.bps) << snr_db;
    }
}

TEST(one_ladder, auto_carries_2100_bits_at_2_db)
{
    // The SNR of auto is that of 9600 bit/s at the same peak. PSK has more power.
    const double psk_db = 2 - mode_promises::of(mode::parse("4539-9600S")).power_db();
    EXPECT_GE(between("auto", "auto", psk_db, 300000).bps, 2100);
    EXPECT_LT(between("auto:4539", "auto:4539", psk_db, 300000).bps, 2100);
}

// Both ways, since either side may call.
TEST(one_ladder, a_station_of_4539_never_hears_5069_and_loses_nothing)
{
    for (const double snr_db : { 1.0, 10.0, 24.0 }) {
        const auto alone = between("auto:4539", "auto:4539", snr_db);
        const auto called = between("auto", "auto:4539", snr_db);
        const auto calls = between("auto:4539", "auto", snr_db);
        EXPECT_EQ(called.of_5069(), 0u) << snr_db;
        EXPECT_EQ(calls.of_5069(), 0u) << snr_db;
        EXPECT_GE(called.bps, 0.99 * alone.bps) << snr_db;
        EXPECT_GE(calls.bps, 0.99 * alone.bps) << snr_db;
    }
}

TEST(one_ladder, rate_changes_by_request_stay_within_4539)
{
    node_config c;
    c.drc = true;
    for (const char* m : { "auto", "auto:4539" }) {
        c.mode = m;
        EXPECT_NO_THROW(c.validate()) << m;
    }
    for (const char* m : { "auto:5069", "auto:12000..16000", "auto:48k" }) {
        c.mode = m;
        EXPECT_THROW(c.validate(), std::invalid_argument) << m;
    }
}
