/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

//! Documentation in bindings that gr_modtool writes: document.cc adds that of the headers.
#define DOC(...) ""
