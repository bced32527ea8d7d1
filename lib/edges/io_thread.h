/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/station_time.h>

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

/*! \brief One thread with an event loop, inside a network namespace if one is given.
 *
 * Sockets and devices belong to the namespace of the thread that opens them. So this
 * thread enters the namespace first and opens all that a block needs.
 */
class io_thread
{
public:
    /*! \param netns name of a namespace as `ip netns list` shows it; empty: the current
     *         one.
     *  \throws std::invalid_argument if the namespace does not exist or may not be
     *         entered.
     */
    explicit io_thread(const std::string& netns);
    ~io_thread();
    io_thread(const io_thread&) = delete;
    io_thread& operator=(const io_thread&) = delete;

    boost::asio::io_context& context() { return d_context; }

    //! Run \p f on the thread and wait for it. An exception of \p f reaches the caller.
    template <class F>
    void run_and_wait(F f)
    {
        std::packaged_task<void()> task(std::move(f));
        auto done = task.get_future();
        boost::asio::post(d_context, [&task] { task(); });
        done.get();
    }

    //! Run \p f on the thread later, in the order of calls.
    template <class F>
    void post(F f)
    {
        boost::asio::post(d_context, std::move(f));
    }

    /*! \brief Set station time to \p now and post \p f. A slow thread that has several
     *         calls pending runs \p f only once, so it is not overloaded.
     */
    void post_time(station_time now, std::function<void(station_time)> f);

    //! The last time given to post_time().
    station_time now() const { return station_time(d_now.load()); }

    //! End the event loop and join the thread. Later posts never run.
    void stop();

private:
    boost::asio::io_context d_context;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> d_work;
    std::atomic<int64_t> d_now{ 0 };
    std::atomic<bool> d_time_posted{ false };
    std::thread d_thread;
};

} // namespace gr::hf
