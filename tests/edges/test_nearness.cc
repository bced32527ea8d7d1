/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Where addresses lead, by the routes of a network namespace of this test.
#include "edges/nearness.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace gr::hf {
namespace {

using hfpep::nearness;

TEST(nearness, addresses_of_this_host_are_own)
{
    for (const char* a : { "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1" })
        EXPECT_EQ(nearness_of(ip::address(a)), nearness::own) << a;
}

//! Runs in a child, whose namespace ends with it. 77: not permitted here.
int in_a_namespace()
{
    if (::unshare(CLONE_NEWNET) != 0)
        return 77;
    for (const char* command : { "ip link set lo up",
                                 "ip link add e0 type veth peer name e1",
                                 "ip link set e0 up",
                                 "ip addr add 198.18.1.2/24 dev e0",
                                 "ip addr add 2001:db8:1::2/64 dev e0 nodad",
                                 "ip route add 198.18.9.0/24 dev e0",
                                 "ip route add 198.18.8.0/24 via 198.18.1.1",
                                 "ip route add default via 198.18.1.1",
                                 "ip route add default via 2001:db8:1::1",
                                 "ip link set e1 up",
                                 "ip route add 128.0.0.0/1 dev e1" })
        if (std::system((std::string(command) + " 2>/dev/null").c_str()) != 0)
            return 77;
    const std::pair<const char*, nearness> expected[] = {
        { "198.18.1.2", nearness::own },        { "198.18.1.255", nearness::own },
        { "198.18.1.7", nearness::link },       { "198.18.9.7", nearness::link },
        { "198.18.8.7", nearness::far },        { "9.9.9.9", nearness::far },
        { "130.0.0.1", nearness::far },         { "2001:db8:1::2", nearness::own },
        { "2001:db8:1::abc", nearness::link },  { "2001:db8:2::1", nearness::far },
        { "::ffff:198.18.1.7", nearness::link }
    };
    for (const auto& [text, where] : expected)
        if (nearness_of(ip::address(text)) != where) {
            std::fprintf(stderr, "%s is %d\n", text, int(nearness_of(ip::address(text))));
            return 1;
        }
    return 0;
}

TEST(nearness, networks_of_the_interfaces_are_links_and_routers_lead_far)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(in_a_namespace());
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        GTEST_SKIP() << "network namespaces need rights";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace gr::hf
