/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The local authority and both ends of TLS apart, without sockets.
#include "tls/session.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

namespace gr::hf::tls {
namespace {

struct tls_apart : testing::Test {
    tls_apart()
    {
        char name[] = "/tmp/hf-tls-XXXXXX";
        folder = ::mkdtemp(name);
    }
    ~tls_apart() override
    {
        ::unlink((folder + "/ca/ca.key").c_str());
        ::unlink((folder + "/store.pem").c_str());
        ::rmdir((folder + "/ca").c_str());
        ::rmdir(folder.c_str());
    }
    //! The trust store of the far end has this certificate only.
    void trust(const authority& ca)
    {
        const std::string store = folder + "/store.pem";
        std::ofstream(store) << ca.certificate();
        ::setenv("SSL_CERT_FILE", store.c_str(), 1);
        ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    }
    //! Octets both ways until none is left.
    static void exchange(session& a, session& b)
    {
        for (bool any = true; any;) {
            any = false;
            for (auto [from, to] : { std::pair{ &a, &b }, std::pair{ &b, &a } }) {
                const auto data = from->poll();
                if (!data.empty())
                    to->feed(data.data(), data.size());
                any = any || !data.empty();
            }
        }
    }
    std::string folder;
};

octets of(const std::string& text) { return { text.begin(), text.end() }; }

TEST_F(tls_apart, the_key_is_for_its_owner_and_rotate_replaces_it)
{
    authority first(folder + "/ca");
    struct stat file;
    ASSERT_EQ(::stat(first.path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat((folder + "/ca").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0700u);
    EXPECT_EQ(first.certificate().find("PRIVATE"), std::string::npos);
    EXPECT_EQ(first.fingerprint().size(), 95u);
    EXPECT_GT(first.not_after(), std::time(nullptr) + 9 * 365 * 86400L);
    authority second(folder + "/ca");
    EXPECT_EQ(second.certificate(), first.certificate());
    second.rotate();
    EXPECT_NE(second.certificate(), first.certificate());
    ASSERT_EQ(::stat(first.path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(tls_apart, a_key_that_others_may_read_or_a_damaged_file_is_refused)
{
    const std::string path = authority(folder + "/ca").path();
    ::chmod(path.c_str(), 0640);
    EXPECT_THROW(authority(folder + "/ca"), std::runtime_error);
    ::chmod(path.c_str(), 0600);
    std::ofstream(path) << "nothing";
    EXPECT_THROW(authority(folder + "/ca"), std::runtime_error);
    EXPECT_THROW(authority("/proc/none"), std::runtime_error);
}

TEST_F(tls_apart, text_passes_both_ways_with_a_protocol)
{
    authority ca(folder + "/ca");
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    session near(programs, ca), far(servers, "shop.example", { "h2", "http/1.1" });
    exchange(near, far);
    EXPECT_TRUE(near.waits());
    ASSERT_TRUE(near.from_program());
    EXPECT_EQ(near.from_program()->server_name, "shop.example");
    EXPECT_EQ(near.from_program()->alpn, (std::vector<std::string>{ "h2", "http/1.1" }));
    near.go_on("shop.example", "http/1.1");
    exchange(near, far);
    ASSERT_TRUE(near.open() && far.open()) << far.why() << near.why();
    EXPECT_EQ(far.alpn(), "http/1.1");
    const octets text = of(std::string(100'000, 'x'));
    far.write(text);
    exchange(far, near);
    EXPECT_EQ(near.read(), text);
    near.write(of("answer"));
    near.finish();
    exchange(near, far);
    EXPECT_EQ(far.read(), of("answer"));
    EXPECT_TRUE(far.ended());
    EXPECT_FALSE(near.ended());
}

TEST_F(tls_apart, the_far_end_says_what_is_wrong_with_a_certificate)
{
    authority ca(folder + "/ca");
    const auto fault_for = [&](const std::string& asked, const std::string& shown) {
        const auto programs = context::for_programs(), servers = context::for_servers();
        session near(programs, ca), far(servers, asked, {});
        exchange(near, far);
        near.go_on(shown, "");
        exchange(near, far);
        EXPECT_EQ(far.open(), far.failed() == fault::none);
        EXPECT_EQ(far.why().empty(), far.open());
        return far.failed();
    };
    ::setenv("SSL_CERT_FILE", "/nonexistent", 1);
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::not_trusted);
    trust(ca);
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::none);
    EXPECT_EQ(fault_for("10.1.2.3", "10.1.2.3"), fault::none);
    EXPECT_EQ(fault_for("fd00::1", "fd00::1"), fault::none);
    EXPECT_EQ(fault_for("shop.example", "other.example"), fault::wrong_name);
    EXPECT_EQ(fault_for("10.1.2.3", "10.1.2.4"), fault::wrong_name);
    EXPECT_EQ(fault_for("no name\n", "shop.example"), fault::no_handshake);
    authority(folder + "/ca").rotate(); // as hf pep ca beside the station
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::not_trusted);
}

TEST_F(tls_apart, a_refused_program_sees_an_alert)
{
    authority ca(folder + "/ca");
    const auto programs = context::for_programs(), servers = context::for_servers();
    const std::pair<fault, const char*> alerts[] = {
        { fault::expired, "expired" },
        { fault::not_trusted, "unknown ca" },
        { fault::wrong_name, "bad certificate" },
        { fault::no_handshake, "handshake failure" }
    };
    for (const auto& [why, alert] : alerts) {
        session near(programs, ca), far(servers, "shop.example", {});
        exchange(near, far);
        near.refuse(why);
        exchange(near, far);
        EXPECT_NE(near.failed(), fault::none);
        EXPECT_NE(far.why().find(alert), std::string::npos) << far.why();
    }
}

TEST_F(tls_apart, anything_may_come_from_either_side)
{
    authority ca(folder + "/ca");
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    std::mt19937 rng(5);
    size_t opened = 0;
    for (int k = 0; k < 300; ++k) {
        session near(programs, ca), far(servers, "shop.example", { "http/1.1" });
        for (int step = 0; step < 6; ++step) {
            auto data = step % 2 ? near.poll() : far.poll();
            if (k % 3 && !data.empty() && rng() % 4 == 0)
                data[rng() % data.size()] ^= static_cast<uint8_t>(1 << rng() % 8);
            if (k % 5 == 0)
                data.resize(rng() % 600, static_cast<uint8_t>(rng()));
            (step % 2 ? far : near).feed(data.data(), data.size());
            if (near.waits())
                near.go_on("shop.example", "http/1.1");
            near.read();
            far.read();
        }
        opened += near.open() && far.open();
    }
    EXPECT_GT(opened, 50u);
    EXPECT_LT(opened, 300u);
}

TEST(tls_names, only_plain_host_names)
{
    EXPECT_TRUE(is_host_name("shop.example") && is_host_name("a_b-c.1"));
    for (const char* bad : { "", "a b", "a\nb", "*.example", "a,DNS:b", "\xe4.example" })
        EXPECT_FALSE(is_host_name(bad)) << bad;
    EXPECT_FALSE(is_host_name(std::string(211, 'a')));
}

} // namespace
} // namespace gr::hf::tls
