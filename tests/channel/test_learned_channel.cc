/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"
#include "channel/learned_channel.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gr::hf::kernel;
using cf = std::complex<float>;

namespace {

const std::string good_meta = R"({"global": {"core:datatype": "cf32_le",
    "core:sample_rate": 100, "core:num_channels": 2, "hf:delays_s": [0, 0.00125]}})";

class learned : public ::testing::Test
{
protected:
    void SetUp() override
    {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        base = (std::filesystem::temp_directory_path() /
                ("hf learned " + std::string(test->name()) + std::to_string(getpid())))
                   .string();
    }
    void TearDown() override
    {
        std::filesystem::remove(base + ".sigmf-meta");
        std::filesystem::remove(base + ".sigmf-data");
    }
    void
    write(const std::string& meta, const std::vector<cf>& gains, size_t odd = 0) const
    {
        std::ofstream(base + ".sigmf-meta") << meta;
        std::ofstream data(base + ".sigmf-data", std::ios::binary);
        data.write(reinterpret_cast<const char*>(gains.data()),
                   static_cast<std::streamsize>(gains.size() * sizeof(cf)));
        data << std::string(odd, 'x');
    }
    std::string spec() const { return "learned=\"" + base + ".sigmf-meta\""; }
    std::string complaint() const
    {
        try {
            channel_spec::parse(spec());
        } catch (const std::invalid_argument& e) {
            EXPECT_NE(std::string(e.what()).find(base), std::string::npos) << e.what();
            return e.what();
        }
        return "accepted";
    }

    std::string base;
};

} // namespace

TEST_F(learned, plays_each_path_between_its_gains_and_back_again)
{
    const std::vector<cf> gains{ { 1, 0 }, { 0, 1 }, { 1, 0 },  { 0, 0 },
                                 { 0, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
    const float scale = std::sqrt(4 / 6.0f); // 4 times of together power 6
    write(good_meta, gains);
    channel ch(channel_spec::parse(spec()), 9600, 1);
    ASSERT_EQ(ch.latency(), 0u);
    std::vector<cf> y(4000, 0.0f);
    for (size_t i = 0; i < y.size(); i += 50)
        y[i] = 1;
    ch.process(y.data(), y.data(), 777); // in pieces
    ch.process(y.data() + 777, y.data() + 777, y.size() - 777);

    const auto gain = [&](size_t path, size_t sample) {
        double place = std::fmod(static_cast<double>(sample) / 96, 6); // there and back
        if (place > 3)
            place = 6 - place;
        const auto from = static_cast<size_t>(place);
        const cf a = gains[2 * from + path],
                 b = gains[2 * std::min<size_t>(3, from + 1) + path];
        return scale *
               (a + (b - a) * static_cast<float>(place - static_cast<double>(from)));
    };
    for (size_t i = 0; i + 12 < y.size(); i += 50) {
        EXPECT_LT(std::abs(y[i] - gain(0, i)), 1e-5) << i;
        EXPECT_LT(std::abs(y[i + 12] - gain(1, i + 12)), 1e-5) << i;
        EXPECT_LT(
            std::abs(cf(ch.paths()[1].gain(static_cast<double>(i + 12))) - y[i + 12]),
            1e-5);
    }
}

TEST_F(learned, refuses_what_is_none)
{
    EXPECT_NE(complaint().find("No such file"), std::string::npos);
    const std::vector<cf> two(4, 1.0f);
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string meta = good_meta;
        meta.replace(meta.find(from), from.size(), to);
        write(meta, two);
        return complaint();
    };
    EXPECT_NE(with("cf32_le", "ci16_le").find("allowed is cf32_le"), std::string::npos);
    EXPECT_NE(with("100", "0").find("allowed are 0.001 to 100000"), std::string::npos);
    EXPECT_NE(with("100", "\"fast\"").find("fast"), std::string::npos);
    EXPECT_NE(with("[0, 0.00125]", "[0]").find("core:num_channels 2"), std::string::npos);
    EXPECT_NE(with("[0, 0.00125]", "[0, 2]").find("allowed are 0 to 1"),
              std::string::npos);
    EXPECT_NE(with("[0, 0.00125]", "[]").find("allowed are 1 to 64"), std::string::npos);
    EXPECT_NE(with("hf:delays_s", "hf:late").find("no hf:delays_s"), std::string::npos);
    EXPECT_NE(with("\"global\"", "\"local\"").find("global"), std::string::npos);
    EXPECT_NE(with("{", "[").find("not JSON"), std::string::npos);
    write(std::string(60000, '['), two);
    EXPECT_NE(complaint().find("not a SigMF description"), std::string::npos);
    write(good_meta + std::string(1 << 17, ' '), two);
    EXPECT_NE(complaint().find("more than"), std::string::npos);
    write(good_meta, two, 3);
    EXPECT_NE(complaint().find("multiple of 16"), std::string::npos);
    write(good_meta, {});
    EXPECT_NE(complaint().find("multiple of 16"), std::string::npos);
    write(good_meta, std::vector<cf>(4, 0.0f));
    EXPECT_NE(complaint().find("above 0"), std::string::npos);
    write(good_meta, std::vector<cf>(4, NAN));
    EXPECT_NE(complaint().find("above 0"), std::string::npos);
}

TEST_F(learned, stands_for_all_paths)
{
    write(good_meta, std::vector<cf>(4, 1.0f));
    const auto s = channel_spec::parse(spec() + " snr=10");
    EXPECT_EQ(channel_spec::parse(s.to_string()), s);
    EXPECT_EQ(s.learned->paths(), 2u);
    EXPECT_THROW(channel_spec::parse("poor " + spec()), std::invalid_argument);
    EXPECT_THROW(channel_spec::parse(spec() + " paths=0:0:0"), std::invalid_argument);
    EXPECT_THROW(channel_spec::parse("learned=\"x"), std::invalid_argument);
}
