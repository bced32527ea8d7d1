/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

//! Marks the symbols that the shared library exports.
#define HF_API __attribute__((visibility("default")))
