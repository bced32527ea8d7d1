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

/*! \brief S_primitives over one TCP connection, whichever end of it (Annex A, 1).
 *
 * Lives on an io_thread. Whole primitives are pulled with next(), so a user that does not
 * take them stops the reading, and the far end feels that through TCP. What is to be written
 * is bounded: a far end that does not read is given up.
 */
class sis_connection : public std::enable_shared_from_this<sis_connection>
{
public:
    //! \param max_out octets that may wait to be written
    sis_connection(boost::asio::ip::tcp::socket socket, size_t max_out);

    //! \name What happens; neither is called any more after close()
    //! @{
    std::function<void()> on_readable;                 //!< next() may have something
    std::function<void()> on_written;                  //!< waiting() has become less
    std::function<void(const std::string&)> on_broken; //!< once: over, and why
    //! @}

    //! Begin to read and write; callbacks must be set.
    void open();
    //! The next whole primitive, if one has come.
    std::optional<std::vector<uint8_t>> next();
    //! Write a whole primitive.
    void send(std::vector<uint8_t> primitive);
    //! Octets that wait to be written.
    size_t waiting() const { return d_waiting; }
    //! Losses of synchronisation in what was read.
    uint64_t invalid() const { return d_deframer.invalid(); }
    //! Over; handlers that are under way do nothing more.
    void close();
    boost::asio::ip::tcp::socket& socket() { return d_socket; }

private:
    void read();
    void write();
    void shut();
    void broken(const std::string& why);

    boost::asio::ip::tcp::socket d_socket;
    const size_t d_max_out;
    s5066::sis_deframer d_deframer;
    std::array<uint8_t, 8192> d_in;
    std::deque<std::vector<uint8_t>> d_out;
    size_t d_waiting = 0;
    size_t d_without_primitive = 0; // octets read since the last whole one
    bool d_open = false;
    bool d_told = false; // whoever uses this knows that it is over
    bool d_reading = false, d_writing = false;
};

} // namespace gr::hf
