/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/search_loops.h"

#include "modem/base/vector_code.h"

namespace gr::hf::kernel::search_loops {

#define HF_LOOPS "modem/find/search_loops_body.h"
#include "modem/base/vector_loops.h"

const loops& for_any_processor() { return plain::all; }

const loops& for_this_processor() { return HF_FOR_THIS_PROCESSOR(all); }

} // namespace gr::hf::kernel::search_loops
