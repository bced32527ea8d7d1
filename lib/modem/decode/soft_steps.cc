/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/soft_steps.h"

#include "modem/base/vector_code.h"
#include "modem/decode/trellis.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

#define HF_LOOPS "modem/decode/soft_steps_body.h"
#include "modem/base/vector_loops.h"

std::unique_ptr<soft_steps> make_plain_soft_steps(const code_plan& p)
{
    return plain::make(p);
}

std::unique_ptr<soft_steps> make_soft_steps(const code_plan& p)
{
    return HF_FOR_THIS_PROCESSOR(make)(p);
}

} // namespace gr::hf::kernel
