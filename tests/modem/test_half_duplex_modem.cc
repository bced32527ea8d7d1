/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/half_duplex_modem.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <string>

using namespace gr::hf;
using kernel::half_duplex_modem;

namespace {

//! Records the modem's reports, and transmits on request.
struct listener : modem_user {
    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time) override
    {
        if (!key)
            return std::nullopt;
        key = false;
        return mode::parse("4539-2400S");
    }
    tx_octets pull(station_time, station_time, size_t) override { return { {}, true }; }
    void on_tx_end(station_time) override { told += "tx_end "; }
    void on_rx_start(station_time, const rx_start& e) override
    {
        told += "start ";
        joined = e.joined;
    }
    void on_rx_octets(station_time, const rx_octets&) override {}
    void on_rx_end(station_time now, const rx_end& e) override
    {
        told += "end ";
        delay_s = to_seconds(now - e.air_end);
    }
    void on_carrier(station_time now, bool present) override
    {
        told += present ? "carrier " : "free ";
        at = to_seconds(now);
    }
    bool key = false;
    bool joined = false; // what was received last
    std::string told;
    double at = 0;
    double delay_s = 0; // from the end of a transmission until its report
};

void run(half_duplex_modem& modem, const loopback::samples& x)
{
    loopback::samples out(modem.tick_samples());
    for (size_t i = 0; i + out.size() <= x.size(); i += out.size())
        modem.run(&x[i], out.data());
}

loopback::samples transmission(const char* m)
{
    auto x = loopback::transmit(mode::parse(m), loopback::random_octets(1500, 1));
    x.insert(x.begin(), 9600, {});
    loopback::pause(x, 3 * 9600);
    return loopback::through(x, "awgn snr=15", 1, 1);
}

} // namespace

TEST(HalfDuplexModem, hears_again_at_once_when_its_transmission_is_broken_off)
{
    struct talker : listener {
        tx_octets pull(station_time, station_time, size_t most) override
        {
            return { std::vector<uint8_t>(most), false };
        }
    } user;
    half_duplex_modem modem(user, {});
    modem.break_off(); // there is none
    user.key = true;
    loopback::samples silence(modem.tick_samples()), out(modem.tick_samples());
    for (int k = 0; k < 200; ++k)
        modem.run(silence.data(), out.data());
    ASSERT_TRUE(modem.transmitting());
    modem.break_off();
    const auto span = modem.run(silence.data(), out.data());
    EXPECT_FALSE(modem.transmitting());
    EXPECT_FALSE(span.first);
    EXPECT_EQ(span.last, 0u);
    EXPECT_EQ(user.told, "free tx_end ");
    for (const auto& x : out)
        EXPECT_EQ(x, std::complex<float>());
    run(modem, transmission("4539-2400S"));
    EXPECT_NE(user.told.find("start end "), std::string::npos) << user.told;
}

TEST(HalfDuplexModem, tells_of_a_transmission_joined_in_its_middle)
{
    auto x = transmission("4539-2400S");
    x.erase(x.begin(), x.begin() + 3 * 9600); // the preamble is over
    const double end = static_cast<double>(x.size()) / 9600 - 3;
    listener user;
    half_duplex_modem modem(user, {});
    run(modem, x);
    EXPECT_EQ(user.told, "free carrier free ");
    EXPECT_NEAR(user.at, end + 0.9, 0.2);
}

TEST(HalfDuplexModem, receives_the_rest_of_a_wideband_transmission)
{
    auto x = loopback::transmit(mode::parse("5069-3k-1600S"),
                                loopback::random_octets(4000, 1));
    x.erase(x.begin(), x.begin() + 3 * 9600);
    loopback::pause(x, 3 * 9600);
    listener user;
    half_duplex_modem modem(user, {});
    run(modem, loopback::through(x, "awgn snr=15", 1, 1));
    EXPECT_EQ(user.told, "free carrier start end ");
    EXPECT_TRUE(user.joined);
}

TEST(HalfDuplexModem, what_is_received_ends_what_was_sensed)
{
    for (const char* m : { "4539-2400S", "4539-3200S" }) {
        listener user;
        half_duplex_modem modem(user, {});
        run(modem, transmission(m));
        // The preamble may be sensed before it is recognised.
        EXPECT_TRUE(user.told == "free carrier start end " ||
                    user.told == "free start end ")
            << m << ": " << user.told;
    }
}

TEST(HalfDuplexModem, senses_only_while_its_transmitter_is_off)
{
    listener user;
    half_duplex_modem modem(user, {});
    user.key = true;
    // Meanwhile another station is on the channel, for longer.
    run(modem, transmission("4539-2400L"));
    EXPECT_EQ(user.told.substr(0, 5), "free ");
    EXPECT_NE(user.told.find("tx_end"), std::string::npos);
    EXPECT_EQ(user.told.find("carrier"), user.told.find("tx_end") + 7) << user.told;
}

TEST(HalfDuplexModem, transmits_nothing_before_the_start_delay)
{
    listener user;
    kernel::half_duplex_options options;
    options.start_delay_s = 1.5;
    half_duplex_modem modem(user, options);
    user.key = true;
    const loopback::samples silence(modem.tick_samples());
    loopback::samples out(silence.size());
    size_t before = 0; // samples until the first that is sent
    while (!modem.run(silence.data(), out.data()).first)
        before += out.size();
    // The tick that ends at 1.5 s is the first that may be answered.
    EXPECT_EQ(before, 14400 - out.size());
    EXPECT_THROW(half_duplex_modem(user, { false, 0, 1, -1 }), std::invalid_argument);
    EXPECT_THROW(half_duplex_modem(user, { false, 0, 1, 61 }), std::invalid_argument);
    EXPECT_THROW(half_duplex_modem(user, { false, 0, 1, 0, 3001 }),
                 std::invalid_argument);
}

TEST(HalfDuplexModem, hears_during_the_start_delay)
{
    listener user;
    kernel::half_duplex_options options;
    options.start_delay_s = 60;
    half_duplex_modem modem(user, options);
    run(modem, transmission("4539-2400S"));
    EXPECT_NE(user.told.find("start end"), std::string::npos) << user.told;
}

// Times of receptions do not shift by what was sent before.
TEST(HalfDuplexModem, dates_the_end_of_a_reception_after_its_own_transmission)
{
    listener user;
    half_duplex_modem modem(user, {});
    run(modem, transmission("4539-2400S"));
    const double first_s = user.delay_s;
    user.key = true;
    const loopback::samples silence(4 * 9600);
    run(modem, silence);
    ASSERT_NE(user.told.find("tx_end"), std::string::npos) << user.told;
    user.told.clear();
    user.delay_s = 0;
    run(modem, transmission("4539-2400S"));
    ASSERT_NE(user.told.find("start end"), std::string::npos) << user.told;
    EXPECT_GT(first_s, 0.005);
    EXPECT_NEAR(user.delay_s, first_s, 0.03);
}

TEST(HalfDuplexModem, keeps_time_for_years)
{
    // 2^40 samples: 3.6 years in 3 kHz, 83 days in 48 kHz. A product in nanoseconds would
    // overflow 64 bits after 11 days, and after 17 hours.
    constexpr int64_t samples = int64_t{ 1 } << 40;
    EXPECT_EQ(kernel::sample_time(samples, 9600).count(), 114532461226'666666);
    EXPECT_EQ(kernel::sample_time(samples, 153600).count(), 7158278826'666666);
    EXPECT_EQ(kernel::sample_time(0, 9600).count(), 0);
    EXPECT_EQ(kernel::sample_time(9599, 9600).count(), 999895833);
    EXPECT_EQ(kernel::sample_time(9600, 9600).count(), 1000000000);
}

// The last sample of a transmission lies within its tick, whatever its length is.
TEST(HalfDuplexModem, marks_the_last_sample_of_a_transmission)
{
    // The length of a preamble with these options decides where in a tick it ends.
    for (const char* m : { "4539-75S", "4539-600S", "4539-3200S", "4539-9600US" }) {
        struct sender : listener {
            explicit sender(const char* text) : m(mode::parse(text)) {}
            std::optional<mode> want_tx(station_time) override
            {
                const bool now = key;
                key = false;
                return now ? std::optional(m) : std::nullopt;
            }
            mode m;
        } user(m);
        half_duplex_modem modem(user, {});
        user.key = true;
        const loopback::samples silence(modem.tick_samples());
        loopback::samples out(silence.size());
        size_t sent = 0;
        std::optional<size_t> last;
        for (int tick = 0; tick < 2000 && !last; ++tick) {
            const auto span = modem.run(silence.data(), out.data());
            last = span.last;
            sent += last ? *last + 1 : out.size();
        }
        ASSERT_TRUE(last) << m;
        EXPECT_LT(*last, out.size()) << m;
        EXPECT_EQ(sent, loopback::transmit(mode::parse(m), {}).size()) << m;
    }
}

// The guard times of the data link and the emulated modem rely on this: the octets arrive
// 30 ms after the last symbol, with any interleaver. The blanker takes half of that time,
// to wait for the end of a burst.
TEST(HalfDuplexModem, tells_of_the_end_within_35_ms)
{
    for (const char* m : { "4539-600S",
                           "4539-1200L",
                           "4539-2400S",
                           "4539-3200S",
                           "4539-9600US",
                           "4539-9600S" }) {
        auto x = loopback::transmit(mode::parse(m), loopback::random_octets(200, 1));
        x.insert(x.begin(), 9600, {});
        loopback::pause(x, 9600);
        x = loopback::through(x, "awgn snr=30", 1, 1);
        listener user;
        half_duplex_modem modem(user, {});
        run(modem, x);
        EXPECT_NE(user.told.find("start end"), std::string::npos) << m;
        EXPECT_GT(user.delay_s, 0.005) << m;
        EXPECT_LT(user.delay_s, 0.035) << m;
    }
}
