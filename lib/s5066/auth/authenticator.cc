/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/auth/authenticator.h"

#include <algorithm>
#include <iterator>

namespace gr::hf::s5066 {

namespace {

// Counters of a minute. With 24 bits in the trailer, a clock may be wrong by 182 days.
constexpr uint64_t counters_per_minute = 32;
// Counters stored ahead, so that the disk is written once for this many U_PDUs.
constexpr uint64_t reserved_ahead = 1024;
// Destinations with their own counter.
constexpr size_t max_destinations = 1024;

// The counter with these low bits that is nearest to the reference.
uint64_t completed(uint32_t low, uint64_t reference)
{
    constexpr uint64_t period = uint64_t(1) << trailer_counter_bits;
    const uint64_t same = (reference & ~(period - 1)) | low;
    if (same > reference && same - reference > period / 2 && same >= period)
        return same - period;
    return same < reference && reference - same > period / 2 ? same + period : same;
}

} // namespace

const char* to_string(auth_verdict v)
{
    static constexpr const char* names[] = {
        "authentication is off", "proved",      "not proved",      "no trailer",
        "unknown key",           "wrong proof", "replayed",        "not signed",
        "too many wrong proofs", "damaged",     "too many sources"
    };
    static_assert(std::size(names) == static_cast<size_t>(auth_verdict::no_room) + 1);
    return names[static_cast<size_t>(v)];
}

authenticator::authenticator(address own, const auth_config& config)
    : d_own(own), d_config(config),
      d_base(std::max(config.state.reserved, clock_counter(station_time::zero()))),
      d_reserved(config.state.reserved)
{
    config.validate();
    for (const auto& [from, highest] : config.state.heard)
        d_windows.emplace(from, replay_window(highest));
}

uint64_t authenticator::clock_counter(station_time now) const
{
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now).count();
    return d_config.start_minutes == 0
               ? 0
               : (d_config.start_minutes + uint64_t(minutes)) * counters_per_minute;
}

size_t authenticator::seal(address dst,
                           uint8_t src_sap,
                           uint8_t dst_sap,
                           std::vector<uint8_t>& u_pdu)
{
    if (d_config.policy_of(dst) == auth_policy::off)
        return 0;
    if (d_next.size() >= max_destinations && d_next.count(dst) == 0) {
        d_base = d_reserved;
        d_next.clear();
    }
    uint64_t& next = d_next.emplace(dst, d_base).first->second;
    if (next >= d_reserved) {
        d_reserved = next + reserved_ahead;
        d_changed = true;
    }
    const bool sign = dst.is_group() && d_config.signing_key;
    auth_context c;
    c.src = d_own;
    c.dst = dst;
    c.src_sap = src_sap;
    c.dst_sap = dst_sap;
    c.counter = next++;
    c.form = sign ? auth_form::signature : auth_form::tag;
    c.key = d_config.send_key;
    if (sign) {
        append_signature(c, *d_config.signing_key, u_pdu);
        return signed_trailer_octets;
    }
    append_tag(c, d_config.keys.at(c.key), u_pdu);
    return tag_trailer_octets;
}

auth_verdict authenticator::open(station_time now,
                                 address src,
                                 address dst,
                                 uint8_t src_sap,
                                 uint8_t dst_sap,
                                 std::vector<uint8_t>& u_pdu)
{
    if (d_config.policy_of(src) == auth_policy::off)
        return auth_verdict::off;
    auth_context c;
    c.src = src;
    c.dst = dst;
    c.src_sap = src_sap;
    c.dst_sap = dst_sap;
    return settle({ src, dst }, judge(now, c, record_of(src), u_pdu));
}

auth_verdict authenticator::open_damaged(address src, address dst)
{
    return d_config.policy_of(src) == auth_policy::off
               ? auth_verdict::off
               : settle({ src, dst }, auth_verdict::damaged);
}

// Applies the rule for the source, and counts.
auth_verdict authenticator::settle(const route& from, auth_verdict v)
{
    const bool nothing_proved =
        v == auth_verdict::no_trailer || v == auth_verdict::unknown_key ||
        v == auth_verdict::wrong_proof || v == auth_verdict::damaged;
    if (nothing_proved && d_config.policy_of(from.first) == auth_policy::accept &&
        d_windows.count(from) == 0)
        v = auth_verdict::not_proved;
    auth_peer& seen = record_of(from.first).seen;
    seen.last = v;
    ++(v == auth_verdict::proved       ? seen.proved
       : v == auth_verdict::not_proved ? seen.not_proved
                                       : seen.refused);
    return v;
}

auth_verdict authenticator::judge(station_time now,
                                  auth_context& c,
                                  record& r,
                                  std::vector<uint8_t>& u_pdu)
{
    if (r.rests_until && now < *r.rests_until)
        return auth_verdict::resting;
    const auto t = read_trailer(u_pdu);
    if (!t)
        return auth_verdict::no_trailer;
    c.form = t->form;
    c.key = t->key;
    const bool tag = t->form == auth_form::tag;
    const bool has_public_key = d_config.public_keys.count(c.src) != 0;
    if (tag ? d_config.keys.count(t->key) == 0 : !has_public_key)
        return auth_verdict::unknown_key;
    if (tag && c.dst.is_group() && has_public_key)
        return auth_verdict::not_signed;
    const route from{ c.src, c.dst };
    const auto found = d_windows.find(from);
    const replay_window* window = found == d_windows.end() ? nullptr : &found->second;
    if (!proves(c, window, now, *t, u_pdu))
        return wrong_proof(now, r);
    if (window == nullptr && d_windows.size() >= max_windows)
        return auth_verdict::no_room;
    replay_window& seen = d_windows[from];
    if (!seen.is_new(c.counter))
        return auth_verdict::replayed;
    const uint64_t before = seen.highest();
    seen.add(c.counter);
    d_changed = d_changed || window == nullptr || seen.highest() != before;
    u_pdu.resize(u_pdu.size() - t->octets);
    return auth_verdict::proved;
}

// Completes the counter in \p c. A sender that was off for long is nearer to the clock, one
// that runs for long is nearer to its last counter.
bool authenticator::proves(auth_context& c,
                           const replay_window* window,
                           station_time now,
                           const auth_trailer& t,
                           const std::vector<uint8_t>& u_pdu) const
{
    const uint64_t by_clock = completed(t.low_counter, clock_counter(now));
    c.counter =
        window != nullptr ? completed(t.low_counter, window->highest()) : by_clock;
    if (right(c, t, u_pdu))
        return true;
    if (c.counter == by_clock)
        return false;
    c.counter = by_clock;
    return right(c, t, u_pdu);
}

bool authenticator::right(const auth_context& c,
                          const auth_trailer& t,
                          const std::vector<uint8_t>& u_pdu) const
{
    return t.form == auth_form::tag
               ? tag_is_right(c, d_config.keys.at(t.key), t, u_pdu)
               : signature_is_right(c, d_config.public_keys.at(c.src), t, u_pdu);
}

auth_verdict authenticator::wrong_proof(station_time now, record& r)
{
    if (r.wrong == 0 || now - r.wrong_since >= rest) {
        r.wrong = 0;
        r.wrong_since = now;
    }
    if (++r.wrong >= max_wrong_proofs) {
        r.wrong = 0;
        r.rests_until = now + rest;
    }
    return auth_verdict::wrong_proof;
}

authenticator::record& authenticator::record_of(address src)
{
    if (d_records.size() >= max_peers && d_records.count(src) == 0) {
        d_records.erase(std::min_element(
            d_records.begin(),
            d_records.end(),
            [](const auto& a, const auto& b) {
                const auto rank = [](const record& r) {
                    return std::pair(r.seen.proved, r.wrong);
                };
                return rank(a.second) < rank(b.second);
            }));
    }
    record& r = d_records[src];
    r.seen.peer = src;
    return r;
}

std::optional<auth_state> authenticator::poll_state()
{
    if (!d_changed)
        return std::nullopt;
    d_changed = false;
    auth_state s;
    s.reserved = d_reserved;
    for (const auto& [from, window] : d_windows)
        s.heard.emplace(from, window.highest());
    return s;
}

std::vector<auth_peer> authenticator::peers() const
{
    std::vector<auth_peer> all;
    for (const auto& [a, r] : d_records)
        all.push_back(r.seen);
    return all;
}

} // namespace gr::hf::s5066
