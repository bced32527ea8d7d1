/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edges/io_thread.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gr::hf {
namespace {

void enter_namespace(const std::string& name)
{
    if (name.empty())
        return;
    const std::string path = "/run/netns/" + name;
    const int fd = name.find('/') == std::string::npos
                       ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC)
                       : (errno = EINVAL, -1);
    const int failed = fd < 0 ? errno : (::setns(fd, CLONE_NEWNET) != 0 ? errno : 0);
    if (fd >= 0)
        ::close(fd);
    if (failed != 0)
        throw std::invalid_argument("network namespace '" + name +
                                    "': " + std::strerror(failed) +
                                    " (allowed: a name from `ip netns list`, and the "
                                    "right to enter it, CAP_SYS_ADMIN)");
}

} // namespace

io_thread::io_thread(const std::string& netns) : d_work(d_context.get_executor())
{
    std::promise<void> entered;
    auto result = entered.get_future();
    d_thread = std::thread([this, netns, &entered] {
        try {
            enter_namespace(netns);
        } catch (...) {
            entered.set_exception(std::current_exception());
            return;
        }
        entered.set_value();
        d_context.run();
    });
    try {
        result.get();
    } catch (...) {
        d_thread.join();
        throw;
    }
}

io_thread::~io_thread() { stop(); }

void io_thread::stop()
{
    d_context.stop();
    if (d_thread.joinable())
        d_thread.join();
}

void io_thread::post_time(station_time now, std::function<void(station_time)> f)
{
    d_now.store(now.count());
    if (d_time_posted.exchange(true))
        return;
    post([this, f = std::move(f)] {
        d_time_posted.store(false);
        f(this->now());
    });
}

} // namespace gr::hf
