/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/air/emulated_air.h"

#include <stdexcept>
#include <string>

/*! \brief A path of emulated modems.
 *  \param ber bit error rate, 0 to 0.5
 *  \param loss share of lost transmissions, 0 to 1
 *  \throws std::invalid_argument
 */
inline gr::hf::sim::air_path path_of(double ber, double loss)
{
    if (!(ber >= 0 && ber <= 0.5) || !(loss >= 0 && loss <= 1))
        throw std::invalid_argument("ber " + std::to_string(ber) + ", loss " +
                                    std::to_string(loss) +
                                    ": allowed are 0 to 0.5 and 0 to 1");
    gr::hf::sim::air_path p;
    p.ber = ber;
    p.loss = loss;
    return p;
}
