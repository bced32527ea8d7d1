/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <string>

namespace gr::hf {

//! What a user is told of a setting: a number that has a name, in station files and Python.
struct setting_info {
    std::string name;    //!< as station files have it
    double value = 0;    //!< default
    double least = 0;    //!< smallest allowed
    double most = 0;     //!< greatest allowed
    bool whole = false;  //!< only whole numbers
    std::string unit;    //!< of the number; empty: a count, or 0 and 1
    std::string meaning; //!< one sentence
};

} // namespace gr::hf
