/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/reach.h"

namespace gr::hf {

/*! \brief Where the kernel would send packets for an address from this thread's network
 *         namespace.
 *  \details An address without a route counts as far, since nothing can be sent there. If
 *  the kernel does not answer, the address counts as our own, the strictest kind.
 */
hfpep::nearness nearness_of(const ip::address& to);

} // namespace gr::hf
