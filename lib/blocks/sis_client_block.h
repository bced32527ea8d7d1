/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "edges/io_thread.h"

#include <gnuradio/block.h>
#include <hf/station_time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief A block that is a client of a data link and uses sockets or devices.
 *
 * Its engine runs on an io_thread, together with its sockets and devices, so it needs no
 * lock. The sis port only posts to that thread. Time comes with the messages of the port.
 * A tick in lock step is answered when the engine has done all that is due. Lines for the
 * operator go to the port log, as in a data link.
 */
class sis_client_block : virtual public gr::block
{
public:
    bool start() override;
    bool stop() override;

protected:
    /*! \param netns network namespace of its sockets and devices; empty: the current one
     *  \throws std::invalid_argument as io_thread
     */
    explicit sis_client_block(const std::string& netns);

    //! \name The engine, called on the io_thread only @{
    virtual void engine_sis_in(station_time now, const uint8_t* p, size_t n) = 0;
    //! Do what is due until \p now.
    virtual void engine_run_deadlines(station_time now) = 0;
    //! Let engine and sockets work until neither has more to do; primitives go to send().
    virtual void engine_exchange() = 0;
    //! Data rate of the link, bit/s. Called when it changes.
    virtual void engine_link_rate(double) {}
    //! Do the engine's work besides SIS. False if there was none.
    virtual bool engine_drain() = 0;
    //! Open and close what belongs to the io_thread. open() may throw.
    virtual void open() = 0;
    virtual void close() = 0;
    //! @}

    /*! \brief Open now, so that the constructor reports a port in use or a missing right.
     *  \details Call it at the end of the constructor of the final class, whose
     *  destructor calls close_now(). After stop() the next start() opens again.
     *  \throws what open() throws
     */
    void open_now();
    void close_now();

    //! Does all that the engine wants. To be called after each event for the engine, on
    //! the io_thread.
    void pump();
    //! Send a primitive to the node. On the io_thread.
    void send(const std::vector<uint8_t>& primitive);
    io_thread& io() { return d_io; }
    //! A line for the operator on the port log, with station time.
    void log(const std::string& line);
    //! Station time of the last message to the engine. On the io_thread.
    station_time now() const { return d_now; }

private:
    void on_message(const pmt::pmt_t& msg);
    void on_time(station_time now);

    const pmt::pmt_t d_port, d_log;
    const uint64_t d_client;
    io_thread d_io;
    bool d_lock_step = false; // used only by the block's own thread
    std::string d_mode;       // mode of the last tick that had one; same thread
    bool d_open = false;
    bool d_running = false;
    station_time d_now{}; // not io().now(), which other threads may have advanced already
};

} // namespace gr::hf
