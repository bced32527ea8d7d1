/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "driver_air.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace gr::hf::soapy_test {
namespace {

constexpr uint64_t magic = 0x68662d6169723031;

int64_t steady_ns()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

test_air::test_air(const std::string& path, double rate) : d_rate(rate)
{
    const size_t octets = sizeof(header) + max_stations * sizeof(station);
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        throw std::runtime_error("air = " + path + ": cannot be opened");
    flock(file, LOCK_EX); // the first station makes it
    if (ftruncate(file, static_cast<off_t>(octets)) == 0) {
        void* memory = mmap(nullptr, octets, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED)
            d_header = static_cast<header*>(memory);
    }
    if (d_header && d_header->magic != magic) {
        d_header->begin_ns = steady_ns();
        d_header->rate = rate;
        d_header->magic = magic;
    }
    flock(file, LOCK_UN);
    close(file);
    if (!d_header)
        throw std::runtime_error("air = " + path + ": cannot be mapped");
    if (d_header->rate != rate) {
        const auto there = std::to_string(d_header->rate);
        munmap(d_header, octets);
        throw std::runtime_error("air = " + path + ": its stations have " + there +
                                 " samples/s");
    }
}

test_air::~test_air()
{
    munmap(d_header, sizeof(header) + max_stations * sizeof(station));
}

int64_t test_air::now_ns() const { return steady_ns() - d_header->begin_ns; }

int64_t test_air::now_sample() const
{
    return static_cast<int64_t>(
        std::floor(static_cast<long double>(now_ns()) * d_rate / 1e9L));
}

test_air::station& test_air::of(size_t k) const
{
    return reinterpret_cast<station*>(d_header + 1)[k];
}

void test_air::transmit(size_t k, int64_t at, const std::complex<float>* x, size_t n)
{
    for (size_t i = 0; i < n; ++i, ++at) {
        const auto number = static_cast<uint64_t>(at) / chunk + 1;
        auto& c = of(k).ring[number % chunks];
        if (c.number != number) {
            std::fill(std::begin(c.samples), std::end(c.samples), std::complex<float>());
            c.number = number;
        }
        c.samples[static_cast<uint64_t>(at) % chunk] = x[i];
    }
}

void test_air::heard_from(size_t from, int64_t at, std::complex<float>* y, size_t n) const
{
    for (size_t i = 0; i < n; ++i, ++at) {
        const auto number = static_cast<uint64_t>(at) / chunk + 1;
        const auto& c = of(from).ring[number % chunks];
        y[i] = c.number == number ? c.samples[static_cast<uint64_t>(at) % chunk]
                                  : std::complex<float>();
    }
}

} // namespace gr::hf::soapy_test
