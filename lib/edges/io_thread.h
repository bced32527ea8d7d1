/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/time.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace gr::hf {

/*! \brief One thread with an event loop, inside a network namespace if asked for.
 *
 * Sockets and devices belong to the namespace of the thread that opens them, so everything
 * that a block opens is opened on this thread, and the thread enters the namespace first.
 */
class io_thread
{
public:
    /*! \param netns name of a namespace as `ip netns list` shows it; empty: the present one.
     *  \throws std::invalid_argument if there is no such namespace or no right to enter it.
     */
    explicit io_thread(const std::string& netns);
    ~io_thread();
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;

    boost::asio::io_context& context() { return d_context; }

    //! Run \p f on the thread and wait for it; an exception of \p f comes back to the caller.
    template <class F>
    void run_and_wait(F f)
    {
        std::packaged_task<void()> task(std::move(f));
        auto done = task.get_future();
        boost::asio::post(d_context, [&task] { task(); });
        done.get();
    }

    //! Run \p f on the thread some time later, in the order of calls.
    template <class F>
    void post(F f)
    {
        boost::asio::post(d_context, std::move(f));
    }

    /*! \brief Tell the thread that station time is \p now; \p f runs at most once for any
     *  number of calls that it has not caught up with, so a slow thread is not buried.
     */
    void post_time(station_time now, std::function<void(station_time)> f);

    //! The last time given to post_time().
    station_time now() const { return station_time(d_now.load()); }

    //! End the event loop and join the thread; later posts are never run.
    void stop();

private:
    boost::asio::io_context d_context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> d_work;
    std::atomic<int64_t> d_now{ 0 };
    std::atomic<bool> d_time_posted{ false };
    std::thread d_thread;
};

} // namespace gr::hf
