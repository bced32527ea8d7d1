/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Words that a station expects: known callers, and the answer to its own frame.
#include "ale/frames/frame_reader.h"
#include "ale/link_pair.h"
#include "ale/reception.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

namespace gr::hf::test {
namespace {

std::vector<std::string> frames_of(const std::vector<rx_event>& events)
{
    frame_reader reader;
    for (const auto& e : events)
        reader.push(e);
    reader.finish();
    std::vector<std::string> all;
    while (const auto f = reader.poll())
        all.push_back(f->to_string());
    return all;
}

std::vector<word> frame_to(const std::string& to,
                           const std::string& from,
                           bool tis = true,
                           bool report = false)
{
    auto p = plan_to(to, from);
    p.answer_wanted = tis;
    if (report) {
        p.report.emplace();
        p.report->sinad_db = 12;
    }
    return words_of(p);
}

// What JOE expects: calls of its book, and of \p peer the acknowledgement.
expected_words waiting_joe(const std::string& peer)
{
    return { {}, {}, answers_to(plan_to(peer, "JOE")) };
}

expected_words knowing(const std::vector<std::string>& callers)
{
    address_book b;
    b.self = { "JOE" };
    b.peers = callers;
    return b.expected();
}

// A call whose last words are \p weak_db weaker than the others, which have \p snr_db.
samples call_with_weak_end(const std::string& caller,
                           double snr_db,
                           double weak_db,
                           uint64_t seed)
{
    auto p = plan_to("JOE", caller);
    p.channels = 2;
    const auto words = words_of(p);
    auto x = sent(words);
    const auto strong = static_cast<size_t>(rate * (0.5 + 6 * word_s));
    for (size_t k = strong; k < x.size(); ++k)
        x[k] *= static_cast<float>(std::pow(10, -weak_db / 20));
    return through(x, "awgn snr=" + std::to_string(snr_db), seed);
}

size_t calls_read(const std::string& caller, double weak_db, const expected_words& e)
{
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        const auto found =
            frames_of(received(call_with_weak_end(caller, -4, weak_db, seed), 5000, e));
        read += std::count(found.begin(), found.end(), "TO JOE TIS " + caller);
    }
    return read;
}

TEST(expected_words, a_known_caller_is_read_in_a_fade)
{
    const auto known = knowing({ "BOB", "SAM", "EDGAR" });
    EXPECT_GT(calls_read("SAM", 8, known), calls_read("SAM", 8, {}) + 10);
    // Both words of this address are in the fade.
    EXPECT_GT(calls_read("EDGAR", 7, known), calls_read("EDGAR", 7, {}) + 10);
}

TEST(expected_words, a_stranger_is_not_read_as_a_known_caller)
{
    size_t strangers = 0;
    for (const double weak_db : { 0.0, 4.0, 8.0 })
        for (uint64_t seed = 1; seed <= 20; ++seed)
            for (const auto& f :
                 frames_of(received(call_with_weak_end("TOM", -4, weak_db, seed),
                                    5000,
                                    knowing({ "BOB", "SAM", "EDGAR" })))) {
                for (const auto* known : { "BOB", "SAM", "EDG" })
                    EXPECT_EQ(f.find(known), std::string::npos) << f;
                strangers += f == "TO JOE TIS TOM";
            }
    EXPECT_GE(strangers, 30u);
}

// A sound is no call, so its words need the usual proof.
TEST(expected_words, known_callers_count_in_calls_only)
{
    frame_plan p;
    p.from = "SAM";
    p.sounds = 4;
    auto x = sent(words_of(p));
    const auto strong = static_cast<size_t>(rate * (0.5 + 3 * word_s));
    for (size_t k = strong; k < x.size(); ++k)
        x[k] *= 0.5f;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        const auto y = through(x, "awgn snr=-4", seed);
        EXPECT_EQ(texts(received(y, 5000, knowing({ "SAM" }))), texts(received(y)));
    }
}

// The conclusion of the first call is over when the second one starts.
TEST(expected_words, a_known_caller_is_read_in_the_second_call_of_a_transmission)
{
    auto words = frame_to("JOE", "TOM");
    for (const auto& w : frame_to("JOE", "SAM"))
        words.push_back(w);
    auto x = sent(words);
    for (auto k = static_cast<size_t>(rate * (0.5 + 5 * word_s)); k < x.size(); ++k)
        x[k] *= 0.45f;
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        const auto found = frames_of(
            received(through(x, "awgn snr=-4", seed), 5000, knowing({ "SAM" })));
        read += std::count(found.begin(), found.end(), "TO JOE TIS SAM");
    }
    EXPECT_GE(read, 7u); // 9 of 12. As a stranger: 4.
}

// A word after a lost one continues no address.
TEST(expected_words, the_end_of_a_known_address_is_not_expected_after_a_lost_word)
{
    auto words = frame_to("JOE", "EDGAR");
    words.insert(words.end() - 1, words.back());
    auto x = sent(words);
    const auto sample = [](size_t word) {
        return static_cast<ptrdiff_t>(rate * (0.5 + static_cast<double>(word) * word_s));
    };
    std::fill(x.begin() + sample(3), x.begin() + sample(4), 0.0f);
    for (auto s = x.begin() + sample(4); s != x.end(); ++s)
        *s *= 0.36f;
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const auto all =
            texts(received(through(x, "awgn snr=-4", seed), 5000, knowing({ "EDGAR" })));
        read += std::count(all.begin(), all.end(), "DATA:AR@");
    }
    EXPECT_LE(read, 4u); // 1 of 20. If it were expected: 9.
}

size_t
answers_read(const std::vector<word>& words, double snr_db, const expected_words& e)
{
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const auto found = frames_of(received(
            through(sent(words), "awgn offset=40 snr=" + std::to_string(snr_db), seed),
            96,
            e));
        read += std::count(found.begin(), found.end(), "TO JOE TIS SAM");
    }
    return read;
}

TEST(expected_words, an_awaited_answer_is_read_below_the_level_of_words)
{
    const auto words = frame_to("JOE", "SAM");
    EXPECT_GT(answers_read(words, -11.5, waiting_joe("SAM")),
              answers_read(words, -11.5, {}) + 8);
}

TEST(expected_words, of_any_length_and_kind)
{
    for (const bool tis : { true, false })
        for (const bool report : { false, true })
            for (const std::string peer : { "SAM", "EDGARALLANPOE12" }) {
                const auto words = frame_to("JOE", peer, tis, report);
                // The report itself is read at a higher level only.
                for (const double snr_db : { -9.0, 5.0 }) {
                    const auto all = received(
                        through(sent(words), "awgn snr=" + std::to_string(snr_db), 3),
                        96,
                        waiting_joe(peer));
                    const auto found = frames_of(all);
                    ASSERT_EQ(found.size(), 1u) << peer << tis << report << snr_db;
                    EXPECT_EQ(found[0].find("TO JOE"), 0u);
                    EXPECT_NE(found[0].find((tis ? "TIS " : "TWAS ") + peer),
                              std::string::npos)
                        << found[0];
                    EXPECT_TRUE(!report || snr_db < 0 ||
                                found[0].find("LQA") != std::string::npos)
                        << found[0];
                    for (const auto& e : all)
                        if (e.what == rx_event::kind::word && snr_db > 0) {
                            EXPECT_NEAR(e.snr_db, snr_db, 2.5);
                            EXPECT_GT(e.votes, 40);
                        }
                }
            }
}

// Twice the same frame would be a new call.
TEST(expected_words, a_strong_answer_is_reported_once)
{
    for (const int snr_db : { -6, 0, 10, 40 })
        for (uint64_t seed = 1; seed <= 10; ++seed) {
            const auto found = frames_of(received(
                through(sent(frame_to("JOE", "SAM")),
                        "good snr=" + std::to_string(snr_db + 10) + " offset=-70",
                        seed),
                96,
                waiting_joe("SAM")));
            EXPECT_EQ(found, std::vector<std::string>{ "TO JOE TIS SAM" }) << snr_db;
        }
}

TEST(expected_words, other_frames_are_not_taken_for_it)
{
    for (const auto& [to, from] : std::vector<std::pair<std::string, std::string>>{
             { "JOE", "SIM" }, { "JOE", "BOB" }, { "BOB", "SAM" }, { "JOB", "SAM" } })
        for (const int snr_db : { -9, -6, 0, 20 })
            for (uint64_t seed = 1; seed <= 10; ++seed)
                for (const auto& f :
                     frames_of(received(through(sent(frame_to(to, from)),
                                                "awgn snr=" + std::to_string(snr_db),
                                                seed),
                                        96,
                                        waiting_joe("SAM"))))
                    EXPECT_NE(f, "TO JOE TIS SAM") << to << from << snr_db;
}

TEST(expected_words, nothing_in_noise_or_silence)
{
    auto e = waiting_joe("SAM");
    e.called = knowing({}).called;
    e.callers = knowing({ "BOB", "SAM", "EDGAR" }).callers;
    const samples x(static_cast<size_t>(120 * rate));
    EXPECT_TRUE(received(x, 5000, e).empty());
    EXPECT_TRUE(received(through(x, "awgn snr=0"), 5000, e).empty());
}

// A receiver that remembers four words cannot search for more.
TEST(expected_words, longer_than_the_history_are_left_out)
{
    for (const auto& [peer, known] :
         std::map<std::string, bool>{ { "SAM", true }, { "EDGARALLANPOE12", false } }) {
        const auto x = through(sent(frame_to("JOE", peer)), "awgn snr=-11.5", 4);
        receiver with, without;
        with.expect(waiting_joe(peer));
        std::array<size_t, 2> events{};
        for (auto* r : { &with, &without }) {
            r->push(x.data(), x.size());
            while (r->poll())
                ++events[r == &without];
        }
        EXPECT_EQ(events[0] > events[1], known) << peer;
    }
    EXPECT_THROW(receiver({}, 3), std::invalid_argument);
}

// Text of words, ? for any.
std::string text(const expected_words::sequence& words)
{
    std::string all;
    for (const auto& w : words)
        all += (w ? w->to_string() : "?") + " ";
    return all;
}

TEST(expected_words, of_an_address_book)
{
    address_book b;
    b.self = { "JOE", "HERBERT" };
    b.peers = { "SAM", "EDGAR" };
    b.nets["NET"] = { "JOE", "BOB", "SAM" };
    b.scanned["TOM"] = 0;
    const auto e = b.expected();
    EXPECT_TRUE(e.frames.empty());
    EXPECT_EQ(text({ e.called.begin(), e.called.end() }), "TO:JOE TO:HER ");
    std::vector<std::string> all;
    for (const auto& words : e.callers)
        all.push_back(text({ words.begin(), words.end() }));
    EXPECT_EQ(all,
              (std::vector<std::string>{ "TIS:BOB ",
                                         "TWAS:BOB ",
                                         "TIS:EDG DATA:AR@ ",
                                         "TWAS:EDG DATA:AR@ ",
                                         "TIS:SAM ",
                                         "TWAS:SAM ",
                                         "TIS:TOM ",
                                         "TWAS:TOM " }));
    b.peers = { "sam" };
    EXPECT_THROW(b.check(), std::invalid_argument);
}

TEST(expected_words, of_a_handshake)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    const auto call = p.air.of(sam, kind::transmit).at(0).action;
    ASSERT_EQ(call.answers.size(), 4u);
    EXPECT_EQ(text(call.answers[0]), "TO:SAM TO:SAM TIS:JOE ");
    EXPECT_EQ(text(call.answers[1]), "TO:SAM TO:SAM ? TIS:JOE ");
    EXPECT_EQ(text(call.answers[2]), "TO:SAM TO:SAM TWAS:JOE ");
    EXPECT_EQ(text(call.answers[3]), "TO:SAM TO:SAM ? TWAS:JOE ");
    const auto answer = p.air.of(joe, kind::transmit).at(0).action;
    ASSERT_EQ(answer.answers.size(), 4u);
    EXPECT_EQ(text(answer.answers[0]), "TO:JOE TO:JOE TIS:SAM ");
    EXPECT_TRUE(p.air.of(sam, kind::transmit).at(1).action.answers.empty());
}

TEST(expected_words, of_a_net_call_none)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("NET", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 60s), 0);
    for (const size_t station : { sam, joe })
        for (const auto& sent : p.air.of(station, kind::transmit))
            EXPECT_TRUE(sent.action.answers.empty());
}

} // namespace
} // namespace gr::hf::test
