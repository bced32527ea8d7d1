/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/frames/frame.h"

#include <string>

namespace gr::hf::ale {

/*! \brief A frame to send from its text form, as of frame::to_string(): for example
 *         TO JOE LQA wanted AMD "HELLO" TIS SAM.
 *  \details TO, FROM, LQA and AMD are optional. The conclusion, TIS or TWAS, is not.
 *  \throws std::invalid_argument that names the wrong word
 */
frame_plan plan_of(const std::string& text);

} // namespace gr::hf::ale
