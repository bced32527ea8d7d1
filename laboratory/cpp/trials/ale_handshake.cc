/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/ale_handshake.h"

#include "ale/frames/frame.h"
#include "ale/frames/frame_reader.h"
#include "ale/link/address_book.h"
#include "ale/modem/receiver.h"
#include "ale/station/link_radio.h"
#include "channel/channel.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace gr::hf::sim {

namespace {

using sample = std::complex<float>;
using ale::link_radio;
using kind = ale::link_action::kind;

constexpr size_t piece = 96; // 10 ms
constexpr int scanned = 10;  // channels, of which the length of the call speaks
// Each station has scanned all channels and waits for its Twt before a call.
constexpr double lead_s = 5;
// Two rounds of a call of 23 words, each with the wait for an answer and its repeat, and the
// pause between them.
constexpr double longest_s = 60;

int64_t samples_in(double seconds)
{
    return static_cast<int64_t>(seconds * link_radio::rate);
}

ale::address_book book_of(const std::string& own)
{
    ale::address_book b;
    b.self = { own };
    for (const auto* other : { "SAM",
                               "JOE",
                               "BOB",
                               "TOM",
                               "HQ1",
                               "NMN",
                               "EDGAR",
                               "DC7SU",
                               "F38KLO",
                               "RELAY2",
                               "CASTLE" })
        if (other != own)
            b.peers.emplace_back(other);
    if (own == "SAM")
        b.scanned["JOE"] = scanned;
    return b;
}

ale::link_settings default_settings(size_t channels)
{
    ale::link_settings s;
    s.channels = channels;
    return s;
}

kernel::channel channel_of(const std::string& words, uint64_t seed)
{
    return kernel::channel(kernel::channel_spec::parse(words), link_radio::rate, seed);
}

// A channel with the noise of another one.
std::string noise_of(const std::string& words)
{
    const auto snr_db = kernel::channel_spec::parse(words).snr_db;
    if (!snr_db)
        throw std::invalid_argument("channel \"" + words + "\": it has no snr=");
    return "awgn snr=" + std::to_string(*snr_db);
}

// A station, and what it has done so far.
struct station {
    std::string own, other;
    link_radio radio;
    size_t asked = 0; // frames to which an answer is awaited
    bool acknowledged = false, failed = false;
    size_t linked = 0; // with the other station
    size_t wrong = 0;  // links with other ones

    station(const std::string& name,
            const std::string& peer,
            size_t channels,
            uint64_t seed)
        : own(name), other(peer),
          radio(default_settings(channels), book_of(name), channels, seed)
    {
    }
    // One piece of time. Adds what it sends on the first channel.
    void step(const std::vector<const sample*>& in, std::vector<sample>& sum)
    {
        std::vector<sample> modem(piece), quiet(piece);
        std::vector<std::vector<sample>> sending(in.size(), quiet);
        std::vector<sample*> out;
        for (auto& x : sending)
            out.push_back(x.data());
        radio.receive(in, piece, modem.data());
        radio.transmit(quiet.data(), piece, out);
        for (size_t k = 0; k < piece; ++k)
            sum[k] += sending[0][k];
        while (const auto a = radio.poll()) {
            if (a->what == kind::transmit) {
                asked += !a->answers.empty();
                acknowledged |= a->answers.empty();
            }
            if (a->what == kind::linked)
                ++(a->peer == other ? linked : wrong);
            failed |= a->what == kind::failed;
        }
    }
    size_t strangers()
    {
        std::set<std::string> heard;
        for (const auto& e : radio.link().quality().entries(radio.now()))
            heard.insert(e.station);
        heard.erase(other);
        return heard.size();
    }
};

} // namespace

ale_handshake_result
ale_handshake(const std::string& channel, uint64_t seed, size_t channels)
{
    auto path = channel_of(channel, seed), noise = channel_of(noise_of(channel), ~seed);
    station sam("SAM", "JOE", channels, seed), joe("JOE", "SAM", channels, seed);
    std::vector<sample> air(piece), heard(piece), elsewhere(piece);
    ale_handshake_result r;
    // The phase of JOE's scan.
    const double call_s = lead_s + static_cast<double>(seed % 100) / 100 *
                                       to_seconds(default_settings(channels).scan());
    for (int64_t at = 0; at < samples_in(call_s + longest_s); at += int64_t{ piece }) {
        if (at <= samples_in(call_s) && samples_in(call_s) < at + int64_t{ piece })
            sam.radio.link().call("JOE", "", sam.radio.now(), 0);
        path.process(air.data(), heard.data(), piece);
        const std::vector<sample> quiet(piece);
        if (channels > 1)
            noise.process(quiet.data(), elsewhere.data(), piece);
        std::vector<const sample*> in(channels, elsewhere.data());
        in[0] = heard.data();
        std::fill(air.begin(), air.end(), sample());
        sam.step(in, air);
        joe.step(in, air);
        // A link of the caller before any answer is a false one.
        r.false_links += sam.acknowledged && joe.asked == 0;
        // Further frames are those of another handshake.
        if (joe.asked < 2 && sam.asked < 2) {
            r.called = joe.asked > 0;
            r.answered = r.called && sam.acknowledged;
            r.linked = sam.linked > 0 && joe.linked > 0;
        }
        r.linked_at_last = sam.radio.link().peer() == "JOE" && //
                           joe.radio.link().peer() == "SAM";
        if (r.false_links > 0 || r.linked_at_last || sam.failed)
            break;
    }
    r.false_links += sam.wrong + joe.wrong;
    r.strangers = sam.strangers() + joe.strangers();
    return r;
}

std::vector<std::string> ale_frames(const std::vector<std::complex<float>>& samples)
{
    ale::receiver receiver({}, ale::longest_answer_words);
    auto expected = book_of("SAM").expected();
    expected.frames = ale::answers_to(ale::plan_to("JOE", "SAM"));
    receiver.expect(expected);
    ale::frame_reader reader;
    std::vector<std::string> found;
    const auto take = [&] {
        while (const auto f = reader.poll())
            found.push_back(f->to_string());
    };
    receiver.push(samples.data(), samples.size());
    while (const auto e = receiver.poll()) {
        reader.push(*e);
        take();
    }
    reader.finish();
    take();
    return found;
}

} // namespace gr::hf::sim
