/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "pep/engine.h"

namespace gr::hf::hfpep {

//! Which far proxy serves \p to; empty: none.
const route* find_route(const std::vector<route>& routes, const destination& to);

/*! \brief Index of the first rule that matches.
 *  \param source empty: the connection comes from HF, rules with a source do not match
 *  \return empty: none matches, which means rule_action::proxy with the defaults of rule
 */
std::optional<size_t> find_rule(const std::vector<rule>& rules,
                                const destination& to,
                                const std::optional<endpoint_address>& source,
                                const s5066::address& node,
                                double link_rate);

} // namespace gr::hf::hfpep
