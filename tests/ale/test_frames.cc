/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/frames/frame_reader.h"
#include "ale/frames/frame_text.h"
#include "ale/vectors.h"
#include "ale/words/address.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace gr::hf::test {
namespace {

using namespace ale;

// Events of words in order; "-" is a lost word, "/" the end of the transmission, "^" an
// expected frame that follows from its start.
std::vector<rx_event> events(const std::vector<std::string>& texts)
{
    std::vector<rx_event> all;
    for (const auto& text : texts) {
        rx_event e;
        e.start_s = static_cast<double>(all.size()) * word_s;
        e.votes = 45;
        e.what = text == "-"   ? rx_event::kind::lost
                 : text == "/" ? rx_event::kind::end
                 : text == "^" ? rx_event::kind::again
                               : rx_event::kind::word;
        if (e.what == rx_event::kind::word)
            e.text = word::parse(text).value();
        all.push_back(e);
    }
    return all;
}

std::vector<std::string> frames(const std::vector<std::string>& texts)
{
    frame_reader reader;
    for (const auto& e : events(texts))
        reader.push(e);
    reader.finish();
    std::vector<std::string> found;
    while (const auto f = reader.poll())
        found.push_back(f->to_string());
    return found;
}

using list = std::vector<std::string>;

TEST(frame_reader, golden_sequences)
{
    std::map<std::string, list> sequences;
    for (const auto& v : load_word_vectors())
        sequences[v.sequence].push_back(v.text);
    const std::map<std::string, std::string> expected{
        { "call_one_channel", "TO JOE TIS SAM" },
        { "call_scanning_10", "TO JOE TIS SAM" },
        { "call_extended", "TO EDGAR TIS SAMUEL" },
        { "response", "TO SAM TIS JOE" },
        { "terminate", "TO JOE TWAS SAM" },
        { "call_with_lqa_and_amd", "TO BOB FROM SAM LQA wanted AMD \"QRV\" TIS SAM" },
        { "sound", "TWAS DC7SU" },
        { "sound_scan_4s", "TWAS SAM" },
        { "tis_sam", "TIS SAM" },
    };
    for (const auto& [name, text] : expected)
        EXPECT_EQ(frames(sequences.at(name)), list{ text }) << name;
}

TEST(frame_reader, a_message_and_its_crc)
{
    list words{ "TO:USM", "TO:USM" };
    for (const auto& v : load_word_vectors())
        if (v.sequence == "dtm_of_ale_sigidwiki")
            words.push_back(v.text);
    words.push_back("TIS:SHA");
    const std::string text =
        "DTM \"WE ALSO PASSED MSG TO OUR SECTION ALREDY TODAY MORNING "
        "ABOUT HOLIDAY HERE\\x0d\\x0a\"";
    EXPECT_EQ(frames(words), list{ "TO USM " + text + " TIS SHA" });
    words[5] = "DATA:O Q";
    EXPECT_NE(frames(words)[0].find("(CRC wrong)"), std::string::npos);
}

TEST(frame_reader, most_frequent_address_counts)
{
    EXPECT_EQ(frames({ "TWAS:OFF", "TO:@FF", "TWAS:OFF", "TWAS:ODM", "TWAS:OFF" }),
              list{ "TWAS OFF" });
    EXPECT_EQ(frames({ "TO:JOE", "TO:JQE", "TO:JOE", "TIS:SAM" }),
              list{ "TO JOE TIS SAM" });
    // A quick ID comes before a command only.
    EXPECT_EQ(frames({ "TO:JOE", "FROM:XOE", "TO:JOE", "TIS:SAM" }),
              list{ "TO JOE TIS SAM" });
    // The beginning of a longer address, whose end was lost, is not the address.
    EXPECT_EQ(frames({ "TWAS:318", "-", "TWAS:318", "-", "TWAS:318", "DATA:013", "/" }),
              list{ "TWAS 318013" });
    EXPECT_EQ(
        frames({ "TO:KWX", "TO:KWX", "TO:KWX", "DATA:95@", "TO:KWX", "-", "TIS:SAM" }),
        list{ "TO KWX95 TIS SAM" });
}

// Noise after the end of a frame may look like a word. It must not delay the frame.
TEST(frame_reader, nothing_follows_the_conclusion_of_a_call)
{
    for (const auto* more : { "REP:JRA", "FROM:IMQ", "CMD:ABC" }) {
        frame_reader reader;
        for (const auto& e : events({ "TO:JOE", "TO:JOE", "TIS:SAM", more }))
            reader.push(e);
        const auto f = reader.poll();
        ASSERT_TRUE(f) << more;
        EXPECT_EQ(f->to_string(), "TO JOE TIS SAM");
        reader.finish();
        EXPECT_FALSE(reader.poll()) << more;
    }
}

TEST(frame_reader, a_frame_that_follows_again_counts_once)
{
    EXPECT_EQ(
        frames({ "TO:JOE", "TIS:EDG", "^", "TO:JOE", "TO:JOE", "TIS:EDG", "DATA:AR@" }),
        list{ "TO JOE TIS EDGAR" });
}

TEST(frame_reader, groups)
{
    EXPECT_EQ(frames({ "THRU:JOE",
                       "REP:BOB",
                       "THRU:JOE",
                       "REP:BOB",
                       "TO:JOE",
                       "REP:BOB",
                       "DATA:BY@",
                       "TO:JOE",
                       "REP:BOB",
                       "DATA:BY@",
                       "TIS:SAM" }),
              (list{ "TO JOE TO BOBBY TIS SAM" }));
    // Without a REP. A single misread word makes no group.
    EXPECT_EQ(frames({ "TO:BOB",
                       "DATA:BY@",
                       "TO:JOE",
                       "TO:BOB",
                       "DATA:BY@",
                       "TO:JOE",
                       "TIS:SAM" }),
              (list{ "TO BOBBY TO JOE TIS SAM" }));
    EXPECT_EQ(frames({ "TO:JOE", "TO:JOE", "TO:BOB", "TO:JOE", "TIS:SAM" }),
              (list{ "TO JOE TIS SAM" }));
}

TEST(frame_reader, the_second_time_gives_the_order_of_a_group)
{
    const list whole{ "TO:BOB", "REP:EDG", "DATA:AR@", "TO:SAM", "DATA:UEL" };
    for (size_t missed = 0; missed < whole.size(); ++missed) {
        list words(whole.begin() + static_cast<ptrdiff_t>(missed), whole.end());
        // Nobody locks to DATA, and a REP after a lost word starts nothing.
        if (words[0].substr(0, 2) != "TO")
            continue;
        words.insert(words.end(), whole.begin(), whole.end());
        words.push_back("TIS:JOE");
        EXPECT_EQ(frames(words), (list{ "TO BOB TO EDGAR TO SAMUEL TIS JOE" })) << missed;
    }
}

TEST(frame_reader, ends_with_the_word_after_a_conclusion)
{
    frame_reader reader;
    for (const auto& e : events({ "TO:JOE", "TO:JOE", "TIS:SAM", "-" }))
        reader.push(e);
    const auto f = reader.poll();
    ASSERT_TRUE(f);
    EXPECT_EQ(f->kind(), frame_kind::call);
    EXPECT_EQ(f->to_string(), "TO JOE TIS SAM");
    EXPECT_NEAR(f->end_s, 3 * word_s, 1e-9);
    EXPECT_EQ(f->words, 3u);
    EXPECT_FLOAT_EQ(f->bit_errors, 3);
    // A call right after it is another frame.
    EXPECT_EQ(frames({ "TO:JOE", "TIS:SAM", "TO:SAM", "TO:SAM", "TIS:JOE" }),
              (list{ "TO JOE TIS SAM", "TO SAM TIS JOE" }));
}

TEST(frame_reader, frames_without_a_sender_need_three_readings)
{
    EXPECT_EQ(frames({ "TO:J22", "-", "CMD:|ab", "/" }), list{});
    EXPECT_EQ(frames({ "TO:JOE", "TO:JOE", "TO:JOE", "/" }), list{ "TO JOE ..." });
}

TEST(frame, plans_and_what_is_read_of_them)
{
    frame_plan p;
    p.to = { "EDGAR" };
    p.from = "SAMUEL";
    p.channels = 10;
    p.report = lqa{ true, 2, 17, 4 };
    p.text = "position 14MHz";
    p.quick_id = "SAMUEL";
    const auto words = words_of(p);
    EXPECT_EQ(words.size(), 20u + 4 + 2 + 1 + 5 + 2);
    list texts;
    for (const auto& w : words)
        texts.push_back(w.to_string());
    EXPECT_EQ(frames(texts),
              list{ "TO EDGAR FROM SAMUEL LQA 17 dB 4 bit errors 2 ms wanted "
                    "AMD \"POSITION 14MHZ\" TIS SAMUEL" });
    p.to = { "JOE", "BOBBY", "ANN" };
    p.answer_wanted = false;
    texts.clear();
    for (const auto& w : words_of(p))
        texts.push_back(w.to_string());
    EXPECT_EQ(frames(texts)[0].substr(0, 28), "TO JOE TO BOBBY TO ANN FROM ");
    p = {};
    p.from = "DC7SU";
    p.answer_wanted = false;
    texts.clear();
    for (const auto& w : words_of(p))
        texts.push_back(w.to_string());
    EXPECT_EQ(texts, (list{ "TWAS:DC7", "DATA:SU@", "TWAS:DC7", "DATA:SU@" }));
}

TEST(frame, text_to_frame_and_back)
{
    for (const std::string text : { "TWAS SAM",
                                    "TO JOE TIS SAM",
                                    "TO @?@ FROM SAM AMD \"SAY \"HI\"\" TWAS SAM",
                                    "TO JOE LQA 13 dB 3 bit errors wanted TIS SAM",
                                    "TO JOE LQA wanted AMD \"A\" TIS SAMUEL" }) {
        list texts;
        for (const auto& w : words_of(plan_of(text)))
            texts.push_back(w.to_string());
        EXPECT_EQ(frames(texts), list{ text });
    }
    for (const auto* wrong : { "",
                               "TO JOE",
                               "TIS",
                               "TIS SAM TO JOE",
                               "HELLO TIS SAM",
                               "TO JOE AMD A TIS SAM",
                               "TO JOE AMD \" TIS SAM",
                               "TO JOE LQA 3 apples TIS SAM" })
        EXPECT_THROW(plan_of(wrong), std::invalid_argument) << wrong;
}

TEST(frame, plans_that_cannot_be)
{
    const auto refused = [](auto change) {
        frame_plan p;
        p.to = { "JOE" };
        p.from = "SAM";
        change(p);
        EXPECT_THROW(words_of(p), std::invalid_argument);
    };
    refused([](frame_plan& p) { p.from = "sam"; });
    refused([](frame_plan& p) { p.from = "S?M"; });
    refused([](frame_plan& p) { p.from.clear(); });
    refused([](frame_plan& p) { p.to = { "ABCDEFGHIJKLMNOP" }; });
    refused([](frame_plan& p) { p.to = { "A@B" }; });
    refused([](frame_plan& p) { p.channels = 101; });
    refused([](frame_plan& p) { p.channels = -1; });
    refused([](frame_plan& p) { p.text = std::string(91, 'A'); });
    refused([](frame_plan& p) { p.text = "\xc3\x84"; });
    refused([](frame_plan& p) { p.quick_id = "SAM"; });
    refused([](frame_plan& p) {
        p.to.clear();
        p.text = "A";
    });
    refused([](frame_plan& p) {
        p.to.clear();
        p.sounds = 0;
    });
}

TEST(address, kinds)
{
    EXPECT_EQ(kind_of_address("JOE"), address_kind::individual);
    EXPECT_EQ(kind_of_address("J?E"), address_kind::wildcard);
    EXPECT_EQ(kind_of_address("@?@"), address_kind::all);
    EXPECT_EQ(kind_of_address("@A@"), address_kind::all_selected);
    EXPECT_EQ(kind_of_address("@@?"), address_kind::any);
    EXPECT_EQ(kind_of_address("@@A"), address_kind::any_selected);
    EXPECT_EQ(kind_of_address("@AB"), address_kind::any_selected);
    EXPECT_EQ(kind_of_address("?@?"), address_kind::in_link);
    EXPECT_EQ(kind_of_address("@@@"), address_kind::null);
    for (const auto* wrong :
         { "", "joe", "A@B", "@", "AB@C", "@@@@", "ABCDEFGHIJKLMNOP" })
        EXPECT_FALSE(kind_of_address(wrong)) << wrong;
}

TEST(lqa, words_off_the_air)
{
    const auto read = [](const char* text) { return *read_lqa(*word::parse(text)); };
    EXPECT_EQ(read("CMD:a\\x7f\\x7f"), (lqa{ true, {}, {}, {} }));
    EXPECT_EQ(read("CMD:a{#"), (lqa{ true, {}, 13, 3 }));
    EXPECT_EQ(read("CMD:a>\\x01").sinad_db, 24);
    EXPECT_FALSE(read_lqa(*word::parse("CMD:bAB")));
    for (int bits = 0; bits < 1 << 14; ++bits) {
        const word w{
            preamble::cmd,
            { 'a', static_cast<char>(bits >> 7), static_cast<char>(bits & 127) }
        };
        EXPECT_EQ(encode(*read_lqa(w)), w);
    }
}

} // namespace
} // namespace gr::hf::test
