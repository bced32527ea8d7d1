/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <pybind11/stl.h>

#include <string>
#include <variant>

//! A mode in Python: an object or its name, as in hf.tx("4539-600S").
using mode_argument = std::variant<gr::hf::mode, std::string>;

//! \throws std::invalid_argument for an unknown name
inline gr::hf::mode mode_of(const mode_argument& a)
{
    const auto* text = std::get_if<std::string>(&a);
    return text ? gr::hf::mode::parse(*text) : std::get<gr::hf::mode>(a);
}
