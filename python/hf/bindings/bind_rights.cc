/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <pybind11/pybind11.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <thread>

namespace py = pybind11;

namespace {

// The kernel keeps these rights per thread, and a thread can give up only its own. So all
// threads get a signal.
std::atomic<int> done{ 0 }, failure{ 0 };

void in_each_thread(int)
{
    const int before = errno;
    bool ok = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    // The last right may be newer than the headers. Reading a number beyond it fails.
    for (int c = 0; ok && ::prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; ++c)
        ok = ::prctl(PR_CAPBSET_DROP, c, 0, 0, 0) == 0;
    if (!ok)
        failure = errno;
    errno = before;
    ++done;
}

std::set<pid_t> threads()
{
    std::set<pid_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
        all.insert(std::atoi(entry.path().filename().c_str()));
    return all;
}

void give_up_new_rights()
{
    using clock = std::chrono::steady_clock;
    const int number = SIGRTMAX - 3;
    struct sigaction act {
    }, before{};
    act.sa_handler = in_each_thread;
    act.sa_flags = SA_RESTART;
    ::sigaction(number, &act, &before);
    done = failure = 0;
    std::set<pid_t> signalled;
    int sent = 0;
    const auto limit = clock::now() + std::chrono::seconds(10);
    // A thread made meanwhile has the rights of its maker.
    for (bool again = true; again;) {
        again = false;
        for (const pid_t t : threads())
            if (signalled.insert(t).second &&
                ::syscall(SYS_tgkill, ::getpid(), t, number) == 0) {
                ++sent;
                again = true;
            }
        while (done < sent && clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const bool all = done == sent;
    if (all)
        ::sigaction(number, &before, nullptr);
    if (!all || failure != 0)
        throw std::runtime_error(
            std::string("cannot give up the rights to new ones: ") +
            (all ? std::strerror(failure) : "a thread does not answer"));
}

} // namespace

void bind_rights(py::module& m)
{
    m.def("give_up_new_rights",
          &give_up_new_rights,
          py::call_guard<py::gil_scoped_release>(),
          "From now on no thread of this program, and nothing that it starts, gets any "
          "further right: no_new_privs is set and the bounding set is empty. Needs "
          "CAP_SETPCAP. Raises RuntimeError if the system refuses.");
}
