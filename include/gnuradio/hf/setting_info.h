/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <string>

namespace gr::hf {

//! Description of a setting: a number with a name, in station files and Python.
struct setting_info {
    std::string name;    //!< name in station files
    double value = 0;    //!< default
    double least = 0;    //!< smallest allowed
    double most = 0;     //!< greatest allowed
    bool whole = false;  //!< only whole numbers are allowed
    std::string unit;    //!< unit; empty for counts and flags
    std::string meaning; //!< one sentence
};

} // namespace gr::hf
