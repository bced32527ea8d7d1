/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Proofs of the sender at the U_PDU: octets, and what is refused.
#include "s5066/auth/authenticator.h"
#include "vectors.h"

#include <gtest/gtest.h>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;

namespace {

const address a("1.2.0.1"), b("1.2.0.2"), c("1.2.0.3"), all = address::broadcast();

auth_key key_from(const std::string& hex)
{
    const auto v = from_hex(hex);
    auth_key k{};
    EXPECT_EQ(v.size(), k.size());
    std::copy_n(v.begin(), std::min(v.size(), k.size()), k.begin());
    return k;
}

auth_key some_key(uint8_t k)
{
    auth_key key;
    key.fill(k);
    return key;
}

auth_config with_key(uint64_t start_minutes = 30000000)
{
    auth_config config;
    config.keys = { { 0, some_key(1) } };
    config.start_minutes = start_minutes;
    return config;
}

octets sealed_by(authenticator& by, address dst, const octets& u_pdu, uint8_t sap = 4)
{
    octets o = u_pdu;
    by.seal(dst, sap, sap, o);
    return o;
}

// The verdict alone: the octets are copied.
auth_verdict opened(authenticator& by,
                    address src,
                    const octets& u_pdu,
                    std::optional<address> dst = {},
                    station_time now = 0s)
{
    octets o = u_pdu;
    return by.open(now, src, dst.value_or(b), 4, 4, o);
}

const octets text{ 'C', 'Q', ' ', 'd', 'e' };

} // namespace

TEST(auth, seals_as_an_independent_program_does)
{
    std::ifstream in(HF_VECTORS "/auth.csv");
    std::string line;
    std::getline(in, line);
    size_t rows = 0;
    for (; std::getline(in, line); ++rows) {
        SCOPED_TRACE(line.substr(0, line.find(',')));
        std::stringstream cells(line);
        std::vector<std::string> v;
        for (std::string cell; std::getline(cells, cell, ',');) {
            v.push_back(cell);
        }
        ASSERT_EQ(v.size(), 12u);
        auth_context ctx;
        ctx.key = static_cast<unsigned>(std::stoul(v[2]));
        ctx.src = address(v[5]);
        ctx.dst = address(v[6]);
        ctx.src_sap = static_cast<uint8_t>(std::stoul(v[7]));
        ctx.dst_sap = static_cast<uint8_t>(std::stoul(v[8]));
        ctx.counter = std::stoull(v[9]);
        octets u_pdu = from_hex(v[10]);
        if (v[3].empty()) {
            append_tag(ctx, key_from(v[1]), u_pdu);
        } else {
            ctx.form = auth_form::signature;
            append_signature(ctx, key_from(v[3]), u_pdu);
            EXPECT_EQ(public_key_of(key_from(v[3])), key_from(v[4]));
            const auto t = read_trailer(u_pdu);
            ASSERT_TRUE(t);
            EXPECT_TRUE(signature_is_right(ctx, key_from(v[4]), *t, u_pdu));
        }
        EXPECT_EQ(to_hex(u_pdu), v[11]);
    }
    EXPECT_EQ(rows, 6u);
}

TEST(auth, opens_what_was_sealed_and_costs_12_octets)
{
    authenticator at_a(a, with_key()), at_b(b, with_key());
    for (size_t n : { size_t(0), size_t(1), size_t(200), size_t(2036) }) {
        const octets u_pdu(n, 7);
        octets o = u_pdu;
        EXPECT_EQ(at_a.seal(b, 4, 4, o), 12u);
        EXPECT_EQ(o.size(), n + 12);
        EXPECT_EQ(at_b.open(0s, a, b, 4, 4, o), auth_verdict::proved);
        EXPECT_EQ(o, u_pdu);
    }
    ASSERT_EQ(at_b.peers().size(), 1u);
    EXPECT_EQ(at_b.peers()[0].proved, 4u);
}

TEST(auth, without_keys_no_octet_changes)
{
    authenticator off(a, auth_config());
    octets o = text;
    EXPECT_EQ(off.seal(b, 4, 4, o), 0u);
    EXPECT_EQ(o, text);
    EXPECT_EQ(off.open(0s, b, a, 4, 4, o), auth_verdict::off);
    EXPECT_EQ(o, text);
    EXPECT_TRUE(off.peers().empty());
    EXPECT_FALSE(off.poll_state());
}

TEST(auth, every_changed_bit_is_refused)
{
    authenticator at_a(a, with_key()), at_b(b, with_key());
    const octets o = sealed_by(at_a, b, text);
    for (size_t bit = 0; bit < 8 * o.size(); ++bit) {
        octets changed = o;
        changed[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        EXPECT_FALSE(is_delivered(opened(at_b, a, changed))) << "bit " << bit;
    }
    for (size_t n = 0; n < o.size(); ++n) {
        EXPECT_FALSE(
            is_delivered(opened(at_b, a, octets(o.begin(), o.begin() + int(n)))));
    }
    EXPECT_EQ(opened(at_b, a, o), auth_verdict::proved);
}

TEST(auth, replays_reflections_other_saps_and_other_addresses_are_refused)
{
    authenticator at_a(a, with_key()), at_b(b, with_key()), at_c(c, with_key());
    octets o = sealed_by(at_a, b, text);
    EXPECT_EQ(opened(at_b, c, o), auth_verdict::wrong_proof) << "in the name of another";
    EXPECT_EQ(opened(at_c, a, o, c), auth_verdict::wrong_proof) << "to another";
    EXPECT_EQ(opened(at_a, b, o, a), auth_verdict::wrong_proof) << "a reflection";
    EXPECT_EQ(opened(at_b, a, o, all), auth_verdict::wrong_proof) << "to all";
    for (const auto& [from, to] : { std::pair(4, 5), std::pair(5, 4), std::pair(0, 0) }) {
        octets copy = o;
        EXPECT_EQ(at_b.open(0s, a, b, uint8_t(from), uint8_t(to), copy),
                  auth_verdict::wrong_proof);
    }
    EXPECT_EQ(opened(at_b, a, o), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, o), auth_verdict::replayed);
}

// Any order within the window, each U_PDU several times: each is proved once.
TEST(auth, each_u_pdu_is_proved_once_in_any_order)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        authenticator at_a(a, with_key()), at_b(b, with_key());
        std::vector<std::pair<int, octets>> sent;
        for (int k = 0; k < 1000; ++k) {
            const octets o = sealed_by(at_a, b, { uint8_t(k), uint8_t(k >> 8) });
            sent.insert(sent.end(), 1 + random() % 3, { k, o });
        }
        std::shuffle(sent.begin(), sent.end(), random);
        std::vector<int> proved(1000, 0);
        for (const auto& [k, o] : sent) {
            const auto v = opened(at_b, a, o);
            EXPECT_TRUE(v == auth_verdict::proved || v == auth_verdict::replayed);
            proved[size_t(k)] += v == auth_verdict::proved;
        }
        EXPECT_EQ(proved, std::vector<int>(1000, 1)) << "seed " << seed;
    }
}

TEST(auth, a_u_pdu_older_than_the_window_is_refused)
{
    authenticator at_a(a, with_key()), at_b(b, with_key());
    const octets old = sealed_by(at_a, b, text), next = sealed_by(at_a, b, text);
    for (size_t k = 1; k < replay_window::span - 1; ++k) {
        sealed_by(at_a, b, text);
    }
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, old), auth_verdict::replayed) << "1024 behind";
    EXPECT_EQ(opened(at_b, a, next), auth_verdict::proved) << "1023 behind";
}

TEST(auth, old_keys_and_other_keys_are_refused)
{
    auth_config old = with_key(), both = with_key(), fresh = with_key(),
                other = with_key();
    both.keys[1] = fresh.keys[1] = some_key(2);
    both.send_key = fresh.send_key = 1;
    fresh.keys.erase(0);
    other.keys[0] = some_key(9);
    authenticator with_old(a, old), during(b, both), after(b, fresh), foreign(b, other);
    const octets o = sealed_by(with_old, b, text);
    EXPECT_EQ(opened(after, a, o), auth_verdict::unknown_key);
    EXPECT_EQ(opened(foreign, a, o), auth_verdict::wrong_proof);
    EXPECT_EQ(opened(during, a, o), auth_verdict::proved);
    EXPECT_EQ(opened(with_old, b, sealed_by(during, a, text), a),
              auth_verdict::unknown_key);
}

TEST(auth, a_restart_refuses_what_was_proved_before_it)
{
    authenticator at_a(a, with_key());
    auth_config config = with_key();
    std::vector<octets> heard;
    {
        authenticator at_b(b, config);
        for (int k = 0; k < 5; ++k) {
            heard.push_back(sealed_by(at_a, b, text));
            EXPECT_EQ(opened(at_b, a, heard.back()), auth_verdict::proved);
        }
        config.state = at_b.poll_state().value();
        EXPECT_FALSE(at_b.poll_state()) << "nothing has changed since";
        EXPECT_EQ(opened(at_b, a, heard[0]), auth_verdict::replayed);
        EXPECT_FALSE(at_b.poll_state());
    }
    for (const uint64_t minutes : { 30000000u, 29000000u, 0u, 31000000u }) {
        config.start_minutes = minutes; // the clock of the receiver, right or wrong
        authenticator again(b, config);
        for (const auto& o : heard) {
            EXPECT_EQ(opened(again, a, o), auth_verdict::replayed) << minutes;
        }
        EXPECT_EQ(opened(again, a, sealed_by(at_a, b, text)), auth_verdict::proved);
    }
}

// The sender restarts: later, or with a clock that was set back. Its counter never repeats.
TEST(auth, the_counter_of_a_sender_never_repeats)
{
    authenticator at_b(b, with_key());
    auth_state state;
    uint64_t u_pdus = 0;
    for (const uint64_t minutes :
         { 30000000, 30000001, 29999000, 0, 30000001, 30100000 }) {
        auth_config config = with_key(minutes);
        config.state = state;
        authenticator at_a(a, config);
        for (int k = 0; k < 3000; ++k) {
            ASSERT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved)
                << minutes << ", " << k;
            ++u_pdus;
            if (const auto changed = at_a.poll_state()) {
                state = *changed;
            }
        }
    }
    EXPECT_EQ(at_b.peers().at(0).proved, u_pdus);
}

// A receiver without any state completes the counter by its clock.
TEST(auth, a_clock_may_be_wrong_by_months)
{
    constexpr uint64_t day = 1440, now = 30000000;
    authenticator at_a(a, with_key(now));
    const octets o = sealed_by(at_a, b, text);
    for (const uint64_t minutes : { now - 180 * day, now + 180 * day, now }) {
        authenticator at_b(b, with_key(minutes));
        EXPECT_EQ(opened(at_b, a, o), auth_verdict::proved) << minutes;
    }
    authenticator beyond(b, with_key(now + 190 * day));
    EXPECT_EQ(opened(beyond, a, o), auth_verdict::wrong_proof);
    // A year later it is told by the last counter that both know, or by the clock.
    authenticator at_b(b, with_key(now));
    EXPECT_EQ(opened(at_b, a, o), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text), {}, 365 * 24h),
              auth_verdict::proved);
    authenticator restarted(a, with_key(now + 365 * day));
    EXPECT_EQ(opened(at_b, a, sealed_by(restarted, b, text), {}, 365 * 24h),
              auth_verdict::proved);
}

TEST(auth, policies_decide_what_is_delivered)
{
    auth_config config = with_key();
    config.others = auth_policy::accept;
    config.peers = { { c, auth_policy::off } };
    authenticator at_a(a, with_key()), at_b(b, config);
    EXPECT_EQ(opened(at_b, a, text), auth_verdict::not_proved);
    octets o = text;
    EXPECT_EQ(at_b.seal(c, 4, 4, o), 0u);
    EXPECT_EQ(opened(at_b, c, text), auth_verdict::off);
    EXPECT_EQ(at_b.seal(a, 4, 4, o), 12u);
    // A station that has proved itself once cannot be imitated without proof any more.
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, text), auth_verdict::no_trailer);
    const auto seen = at_b.peers();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].not_proved, 1u);
    EXPECT_EQ(seen[0].proved, 1u);
    EXPECT_EQ(seen[0].refused, 1u);
    EXPECT_EQ(seen[0].last, auth_verdict::no_trailer);
    EXPECT_EQ(opened(at_a, b, text, a), auth_verdict::no_trailer) << "require";
}

TEST(auth, groups_are_signed_by_stations_with_a_key)
{
    auth_config signs = with_key(), knows = with_key();
    signs.signing_key = some_key(5);
    knows.public_keys = { { a, public_key_of(some_key(5)) } };
    authenticator at_a(a, signs), at_b(b, knows), without(c, with_key());
    const octets o = sealed_by(at_a, all, text);
    EXPECT_EQ(o.size(), text.size() + 68);
    EXPECT_EQ(opened(without, a, o, all), auth_verdict::unknown_key);
    EXPECT_EQ(opened(at_b, a, o, all), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, o, all), auth_verdict::replayed);
    // Another member of the net can make tags in the name of a, but no signatures.
    authenticator member(a, with_key());
    EXPECT_EQ(opened(at_b, a, sealed_by(member, all, text), all),
              auth_verdict::not_signed);
    EXPECT_EQ(opened(at_b, c, sealed_by(without, all, text), all), auth_verdict::proved)
        << "no public key of it is known";
    auth_config liar = with_key();
    liar.signing_key = some_key(6);
    authenticator lies(a, liar);
    EXPECT_EQ(opened(at_b, a, sealed_by(lies, all, text), all),
              auth_verdict::wrong_proof);
}

TEST(auth, keys_rest_for_an_hour_after_1000_wrong_proofs)
{
    authenticator at_a(a, with_key()), at_b(b, with_key()), at_c(c, with_key());
    octets wrong = sealed_by(at_a, b, text);
    wrong[0] ^= 1;
    for (unsigned k = 0; k < 999; ++k) {
        EXPECT_EQ(opened(at_b, a, wrong), auth_verdict::wrong_proof);
    }
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved);
    EXPECT_EQ(opened(at_b, a, wrong, {}, 1s), auth_verdict::wrong_proof);
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text), {}, 3600s),
              auth_verdict::resting);
    EXPECT_EQ(opened(at_b, c, sealed_by(at_c, b, text), {}, 3600s), auth_verdict::proved)
        << "only that node";
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text), {}, 3601s), auth_verdict::proved);
    for (unsigned k = 0; k < 2000; ++k) {
        EXPECT_EQ(opened(at_b, a, wrong, {}, 4000s + k * 10s), auth_verdict::wrong_proof)
            << "at most 360 an hour";
    }
}

TEST(auth, what_strangers_send_is_bounded)
{
    authenticator at_b(b, with_key()), at_a(a, with_key());
    EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved);
    for (uint32_t k = 0; k < 5000; ++k) {
        opened(at_b, address::node(k), octets(20, 0x10));
    }
    const auto seen = at_b.peers();
    EXPECT_EQ(seen.size(), authenticator::max_peers);
    EXPECT_TRUE(std::any_of(
        seen.begin(), seen.end(), [](const auto& p) { return p.peer == a && p.proved; }));
    EXPECT_EQ(at_b.poll_state().value().heard.size(), 1u);
}

TEST(auth, destinations_of_a_program_are_bounded)
{
    authenticator at_a(a, with_key()), at_b(b, with_key());
    for (uint32_t k = 0; k < 3000; ++k) {
        sealed_by(at_a, address::node(k), text);
        if (k % 500 == 0) {
            EXPECT_EQ(opened(at_b, a, sealed_by(at_a, b, text)), auth_verdict::proved);
        }
    }
}

TEST(auth, a_bad_configuration_is_named)
{
    const auto error_of = [](const auth_config& config) -> std::string {
        try {
            authenticator(a, config);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    auth_config many = with_key(), number = with_key(), send = with_key(),
                group = with_key();
    many.keys = { { 0, some_key(1) }, { 1, some_key(2) }, { 2, some_key(3) } };
    number.keys = { { 8, some_key(1) } };
    send.send_key = 3;
    group.public_keys = { { all, some_key(1) } };
    EXPECT_NE(error_of(many).find("3 net keys"), std::string::npos);
    EXPECT_NE(error_of(number).find("key number 8"), std::string::npos);
    EXPECT_NE(error_of(send).find("send_key 3"), std::string::npos);
    EXPECT_NE(error_of(group).find("31.255.255.255"), std::string::npos);
    EXPECT_EQ(error_of(with_key()), "");
    EXPECT_EQ(parse_auth_policy("accept"), auth_policy::accept);
    EXPECT_FALSE(parse_auth_policy("on"));
}
