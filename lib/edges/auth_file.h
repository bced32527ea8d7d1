/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/auth/auth_config.h"

#include <string>

namespace gr::hf {

/*! \brief The counters of proofs on disk, as lines of text:
 *
 *      reserved NUMBER
 *      heard SOURCE DESTINATION NUMBER
 */
class auth_file
{
public:
    //! \param path empty: nothing is stored
    explicit auth_file(std::string path) : d_path(std::move(path)) {}

    /*! \brief The counters stored last. Without a file all are 0.
     *  \throws std::invalid_argument naming the file and its first wrong line
     */
    s5066::auth_state load() const;
    /*! \brief Stores the counters. A reader sees the old or the new ones, nothing between.
     *  \return what went wrong, once in a row; otherwise empty
     */
    std::string save(const s5066::auth_state& s);

private:
    std::string write(const s5066::auth_state& s) const;

    const std::string d_path;
    bool d_failed = false;
};

} // namespace gr::hf
