/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Transmissions off the air (tests/recordings/README.md).
#include "ale/frames/frame_reader.h"
#include "ale/modem/receiver.h"
#include "radio/audio_to_baseband.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gr::hf::test {
namespace {

std::string directory()
{
    const char* d = std::getenv("HF_RECORDINGS");
    return std::string(d ? d : HF_RECORDINGS) + "/ale/";
}

// Samples of a mono WAV file of 16 bits whose header has 44 octets.
std::vector<float> audio(const std::string& name)
{
    std::ifstream file(directory() + name + ".wav", std::ios::binary);
    const std::string octets{ std::istreambuf_iterator<char>(file), {} };
    std::vector<float> x;
    for (size_t at = 44; at + 1 < octets.size(); at += 2) {
        const auto low = static_cast<uint8_t>(octets[at]);
        const auto high = static_cast<int8_t>(octets[at + 1]);
        x.push_back(static_cast<float>(high * 256 + low) / 32768);
    }
    return x;
}

struct reception {
    size_t words = 0;
    std::vector<std::string> frames;
};

reception received(const std::string& name)
{
    kernel::audio_to_baseband converter(8000);
    std::vector<std::complex<float>> x;
    const auto heard = audio(name);
    converter.push(heard.data(), heard.size(), x);
    converter.finish(x);
    ale::receiver receiver;
    receiver.push(x.data(), x.size());
    ale::frame_reader reader;
    reception r;
    while (const auto e = receiver.poll()) {
        r.words += e->what == ale::rx_event::kind::word;
        reader.push(*e);
    }
    reader.finish();
    while (const auto f = reader.poll())
        r.frames.push_back(f->to_string());
    return r;
}

struct expectation {
    const char* name;
    std::vector<std::string> frames;
};

const std::string to_0 = "TO G8JNJ0", to_3 = "TO G8JNJ3";
const std::string from_0 = " TIS G8JNJ0", from_3 = " TIS G8JNJ3";

//! What was sent, in order. Sounds that the recordings interrupt count twice.
const std::vector<expectation> expected{
    { "ale_2784_uk", { "TWAS XSS" } },
    { "ale_ben_1",
      { "TWAS JDG",
        "TWAS ICZ",
        "TWAS OFF",
        "TWAS OFF",
        "TWAS JTY",
        "TWAS JTY",
        "TWAS CRO",
        "TWAS PLA",
        "TWAS PLA",
        "TWAS JDG",
        "TWAS ICZ",
        "TWAS ICZ",
        "TWAS MCC",
        "TWAS OFF",
        "TWAS JDG",
        "TWAS CRO" } },
    { "ale_ben_2",
      { "TWAS JDG",
        "TWAS OFF",
        "TWAS 318013",
        "TWAS 318013",
        "TWAS CRONPR",
        "TWAS CRONPR",
        "TIS DPP",
        "TWAS 319018",
        "TO KWZ99 LQA wanted TIS KWV71OS1",
        "TIS NOJ",
        "TIS NOJ",
        "TO KWX95 LQA wanted TIS KWX94",
        "TWAS MTG2",
        "TWAS SANRIV",
        "TWAS 105006",
        "TWAS 31303BURGDORFDL" } },
    { "ale_ben_3",
      { "TO KWX57 LQA wanted TIS KWS95",
        "TO KWS95 LQA 13 dB 3 bit errors wanted TIS KWX57",
        "TO KWX57 LQA 24 dB 1 bit errors TIS KWS95",
        "TIS KWX57",
        "TO KWS95 TWAS KWX57" } },
    { "ale_dk8ok_yt", { "TWAS AED", "TWAS ICZ", "TWAS JDG" } },
    { "ale_martin",
      { "TO G8J ...",
        to_3 + from_0,
        to_0 + from_3,
        to_3 + from_0,
        to_0 + " AMD \"MESSAGE READS 12345\"" + from_3,
        to_3 + " AMD \"CONFIRM 54321\"" + from_0,
        to_0 + from_3,
        to_3 + from_0,
        to_0 + from_3,
        to_3 + from_0,
        to_0 + from_3,
        to_3 + from_0,
        to_0 + from_3,
        to_3 + from_0,
        to_0 + from_3,
        to_3 + from_0 } },
    { "ale_sigidwiki",
      { "TIS SHAEENQ2",
        "TO USMANQ7 DTM \"WE ALSO PASSED MSG TO OUR SECTION ALREDY TODAY MORNING ABOUT "
        "HOLIDAY HERE\\x0d\\x0a\" TIS SHAEENQ2" } },
    { "ale_zkd_amd",
      { "TO @?@ FROM BAS AMD \"THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG\" TWAS "
        "BAS" } },
};

TEST(recordings, every_frame_and_no_other)
{
    size_t words = 0;
    for (const auto& e : expected) {
        if (audio(e.name).empty())
            GTEST_SKIP() << "no recording " << directory() << e.name
                         << ".wav (tests/recordings/README.md says where to get it)";
        const auto r = received(e.name);
        EXPECT_EQ(r.frames, e.frames) << e.name;
        words += r.words;
    }
    // Another receiver reads 592, a third one 514 of these.
    EXPECT_GE(words, 675u);
}

} // namespace
} // namespace gr::hf::test
