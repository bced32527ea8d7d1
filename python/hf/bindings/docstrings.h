/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <map>
#include <string>

//! The doc comments of the public headers, by the names that Python knows
//! (make_docstrings.py).
const std::map<std::string, const char*>& docstrings();
