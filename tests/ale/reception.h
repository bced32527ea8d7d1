/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Words through simulated channels to a receiver.
#pragma once

#include "ale/frames/frame.h"
#include "ale/modem/receiver.h"
#include "ale/modem/transmitter.h"
#include "channel/channel.h"

#include <string>
#include <vector>

namespace gr::hf::test {

using namespace ale;
using samples = std::vector<std::complex<float>>;

constexpr double rate = 9600;

inline samples
sent(const std::vector<word>& words, double lead_s = 0.5, double tail_s = 1.5)
{
    transmitter t(words, rate, 1800);
    samples x(static_cast<size_t>(lead_s * rate));
    const size_t lead = x.size();
    x.resize(lead + t.length());
    t.produce(x.data() + lead, x.size() - lead);
    x.resize(x.size() + static_cast<size_t>(tail_s * rate));
    return x;
}

inline samples through(samples x, const std::string& spec, uint64_t seed = 1)
{
    kernel::channel c(kernel::channel_spec::parse(spec), rate, seed);
    c.process(x.data(), x.data(), x.size());
    return x;
}

inline std::vector<rx_event>
received(const samples& x, size_t piece = 5000, const expected_words& expected = {})
{
    receiver r({}, longest_answer_words);
    r.expect(expected);
    std::vector<rx_event> all;
    for (size_t at = 0; at < x.size(); at += piece) {
        r.push(x.data() + at, std::min(piece, x.size() - at));
        while (const auto e = r.poll())
            all.push_back(*e);
    }
    return all;
}

inline std::vector<std::string> texts(const std::vector<rx_event>& events)
{
    std::vector<std::string> all;
    for (const auto& e : events)
        if (e.what == rx_event::kind::word)
            all.push_back(e.text.to_string());
    return all;
}

inline std::vector<word> call(int channels = 0)
{
    frame_plan p;
    p.to = { "JOE" };
    p.from = "SAM";
    p.channels = channels;
    return words_of(p);
}

} // namespace gr::hf::test
