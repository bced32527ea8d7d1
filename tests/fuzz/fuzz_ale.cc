/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// 2G ALE: the text of words, and frames of any words in any order.
#include "ale/frames/frame_reader.h"
#include "ale/frames/frame_text.h"
#include "ale/words/address.h"
#include "fuzz/input.h"

#include <stdexcept>

using namespace gr::hf;
using namespace gr::hf::fuzz;

namespace {

void check(const ale::frame& f)
{
    FUZZ_CHECK(f.words > 0);
    FUZZ_CHECK(f.from.empty() || ale::kind_of_address(f.from));
    for (const auto& a : f.to)
        FUZZ_CHECK(ale::kind_of_address(a));
    FUZZ_CHECK(f.kind() != ale::frame_kind::cut || !f.to.empty());
    FUZZ_CHECK(!f.to_string().empty());
    for (const auto& c : f.commands)
        FUZZ_CHECK(!c.words.empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    const std::string text(p, p + n);
    if (const auto w = ale::word::parse(text))
        FUZZ_CHECK(ale::word::parse(w->to_string()) == w);
    ale::kind_of_address(text);
    try {
        const auto words = ale::words_of(ale::plan_of(text));
        FUZZ_CHECK(!words.empty() && ale::starts_address(words.front()));
    } catch (const std::invalid_argument&) {
    }

    input in(p, n);
    ale::frame_reader reader;
    size_t words = 0;
    while (!in.empty()) {
        ale::rx_event e;
        const uint8_t what = in.u8() % 16;
        if (what == 1) {
            e.what = ale::rx_event::kind::end;
        } else if (what == 2) {
            e.what = ale::rx_event::kind::lost;
        } else {
            const uint32_t high = in.u8();
            e.text = ale::word::of(high << 16 | in.u16());
            const auto again = ale::word::parse(e.text.to_string());
            FUZZ_CHECK(again && *again == e.text);
            ++words;
        }
        e.start_s = static_cast<double>(words) * ale::word_s;
        reader.push(e);
        while (const auto f = reader.poll())
            check(*f);
    }
    reader.finish();
    while (const auto f = reader.poll())
        check(*f);
    return 0;
}
