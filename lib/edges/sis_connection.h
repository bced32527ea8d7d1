/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"

#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr::hf {

/*! \brief S_primitives over one TCP connection, for either end (Annex A, 1).
 *
 * Lives on an io_thread. Whole primitives are pulled with next(). A user that does not
 * pull them stops the reading, and TCP then slows the far end. Output is bounded: a far
 * end that does not read is disconnected.
 */
class sis_connection : public std::enable_shared_from_this<sis_connection>
{
public:
    //! \param max_out octets that may wait to be written
    sis_connection(boost::asio::ip::tcp::socket socket, size_t max_out);

    //! \name Events, none after close() @{
    std::function<void()> on_readable;                 //!< next() may have a primitive
    std::function<void()> on_written;                  //!< waiting() has decreased
    std::function<void(const std::string&)> on_broken; //!< once: the connection has
                                                       //!< ended, with the reason
    //! @}
    //! Reason of on_broken when the far end closed between two primitives, in the
    //! ordinary way.
    static constexpr const char* far_closed = "closed by the far end";

    //! Start to read and write. Callbacks must be set.
    void open();
    //! The next whole primitive, if one has arrived.
    std::optional<std::vector<uint8_t>> next();
    //! Write a whole primitive.
    void send(std::vector<uint8_t> primitive);
    //! Octets that wait to be written.
    size_t waiting() const { return d_waiting; }
    //! Losses of synchronisation in what was read.
    uint64_t invalid() const { return d_deframer.invalid(); }
    //! End the connection. Pending handlers do nothing more.
    void close();
    boost::asio::ip::tcp::socket& socket() { return d_socket; }

private:
    void read();
    void write();
    void shut();
    void broken(const std::string& why);
    std::string why_foreign() const;

    boost::asio::ip::tcp::socket d_socket;
    const size_t d_max_out;
    s5066::sis_deframer d_deframer;
    std::array<uint8_t, 8192> d_in;
    std::deque<std::vector<uint8_t>> d_out;
    size_t d_waiting = 0;
    size_t d_without_primitive = 0; // octets read since the last whole one
    bool d_open = false;
    bool d_reported = false; // the user knows that the connection has ended
    bool d_reading = false, d_writing = false;
};

} // namespace gr::hf
