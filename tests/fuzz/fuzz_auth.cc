/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Sealed U_PDUs from the air: only what the peer has sealed is proved, and only once, also
// after restarts.
#include "fuzz/input.h"
#include "s5066/auth/authenticator.h"

#include <map>
#include <optional>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

const address a = address::node(1), b = address::node(2);

auth_config make_config(uint8_t key)
{
    auth_config c;
    c.keys[1].fill(key);
    c.send_key = 1;
    c.start_minutes = 30000000;
    return c;
}

struct pair_of_stations {
    auth_config config_a = make_config(1), config_b = make_config(1);
    authenticator at_a{ a, config_a };
    std::optional<authenticator> at_b{ std::in_place, b, config_b };
    std::vector<fuzz::octets> sealed; // with their SAPs before them
    std::map<fuzz::octets, bool> proved;
    station_time now{};

    void seal(fuzz::input& in)
    {
        const uint8_t saps = in.u8();
        auto u = in.record();
        const auto before = u;
        const size_t added = at_a.seal(b, saps >> 4, saps & 15, u);
        FUZZ_CHECK(added == tag_trailer_octets && u.size() == before.size() + added);
        FUZZ_CHECK(std::equal(before.begin(), before.end(), u.begin()));
        u.insert(u.begin(), saps);
        if (sealed.size() < 64)
            sealed.push_back(u);
    }
    void open(fuzz::octets with_saps)
    {
        if (with_saps.empty())
            return;
        const auto is_known = std::count(sealed.begin(), sealed.end(), with_saps) > 0;
        const uint8_t saps = with_saps.front();
        fuzz::octets u(with_saps.begin() + 1, with_saps.end());
        const auto before = u;
        const auto v = at_b->open(now, a, b, saps >> 4, saps & 15, u);
        FUZZ_CHECK(v != auth_verdict::off && v != auth_verdict::not_proved);
        if (v == auth_verdict::proved) {
            FUZZ_CHECK(is_known && !proved[with_saps]);
            FUZZ_CHECK(u.size() + tag_trailer_octets == before.size());
            proved[with_saps] = true;
        } else {
            FUZZ_CHECK(u == before);
        }
    }
    fuzz::octets pick(fuzz::input& in) const
    {
        return sealed.empty() ? fuzz::octets() : sealed[in.u8() % sealed.size()];
    }
    void restart()
    {
        if (const auto s = at_b->poll_state())
            config_b.state = *s;
        at_b.emplace(b, config_b);
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n)
{
    fuzz::input in(p, n);
    pair_of_stations s;
    while (!in.empty()) {
        switch (in.u8() % 6) {
        case 0:
            s.seal(in);
            break;
        case 1:
            s.open(s.pick(in));
            break;
        case 2: {
            auto changed = s.pick(in);
            for (auto k = in.u8() % 4; k >= 0 && !changed.empty(); --k)
                changed[in.u16() % changed.size()] ^= in.u8();
            s.open(std::move(changed));
            break;
        }
        case 3:
            s.open(in.record());
            break;
        case 4:
            s.now += fuzz::some_time(in);
            break;
        case 5:
            s.restart();
        }
    }
    return 0;
}
