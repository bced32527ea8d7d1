/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Runs a fuzz target where libFuzzer is not at hand: the corpus as it is, then mutations of it
// from a seed. An input that ends the program is kept in the folder of findings.
// driver [--runs=N] [--seed=N] [--findings=FOLDER] FOLDER...
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* p, size_t n);
// Of the sanitizers, if they are linked.
extern "C" void __sanitizer_set_death_callback(void (*f)()) __attribute__((weak));

namespace {

using octets = std::vector<uint8_t>;
constexpr size_t max_octets = 4096;

const octets* running = nullptr;
std::string finding;

void keep_finding()
{
    if (running && !finding.empty()) {
        std::ofstream(finding, std::ios::binary)
            .write(reinterpret_cast<const char*>(running->data()),
                   static_cast<std::streamsize>(running->size()));
        std::fprintf(stderr, "the input is in %s\n", finding.c_str());
    }
}

void on_abort(int)
{
    keep_finding();
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

void run(const octets& o)
{
    running = &o;
    LLVMFuzzerTestOneInput(o.data(), o.size());
    running = nullptr;
}

octets mutate(const std::vector<octets>& corpus, std::mt19937_64& random)
{
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    octets o = corpus[below(corpus.size())];
    for (size_t k = 1 + below(6); k > 0; --k) {
        const size_t at = o.empty() ? 0 : below(o.size());
        const size_t n = o.empty() ? 0 : std::min(o.size() - at, 1 + below(8));
        const auto begin = o.begin() + static_cast<ptrdiff_t>(at);
        switch (below(8)) {
        case 0:
            if (!o.empty())
                o[at] ^= static_cast<uint8_t>(1 << below(8));
            break;
        case 1:
            if (!o.empty())
                o[at] = static_cast<uint8_t>(random());
            break;
        case 2: {
            static constexpr uint8_t limits[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
            if (!o.empty())
                o[at] = limits[below(sizeof(limits))];
            break;
        }
        case 3:
            o.erase(begin, begin + static_cast<ptrdiff_t>(n));
            break;
        case 4: {
            octets more(1 + below(8));
            for (auto& x : more)
                x = static_cast<uint8_t>(random());
            o.insert(begin, more.begin(), more.end());
            break;
        }
        case 5: {
            const octets again(begin, begin + static_cast<ptrdiff_t>(n));
            o.insert(begin, again.begin(), again.end());
            break;
        }
        case 6: { // the end of another
            const octets& other = corpus[below(corpus.size())];
            if (!other.empty()) {
                o.resize(at);
                o.insert(o.end(),
                         other.begin() + static_cast<ptrdiff_t>(below(other.size())),
                         other.end());
            }
            break;
        }
        case 7:
            o.resize(at);
        }
    }
    o.resize(std::min(o.size(), max_octets));
    return o;
}

} // namespace

int main(int argc, char** argv)
{
    size_t runs = 10000;
    uint64_t seed = 1;
    std::vector<octets> corpus;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        if (word.rfind("--runs=", 0) == 0) {
            runs = std::strtoull(word.c_str() + 7, nullptr, 10);
        } else if (word.rfind("--seed=", 0) == 0) {
            seed = std::strtoull(word.c_str() + 7, nullptr, 10);
        } else if (word.rfind("--findings=", 0) == 0) {
            finding = word.substr(11);
        } else {
            std::vector<std::filesystem::path> files;
            for (const auto& entry : std::filesystem::directory_iterator(word))
                files.push_back(entry.path());
            std::sort(files.begin(), files.end());
            for (const auto& path : files) {
                std::ifstream file(path, std::ios::binary);
                corpus.emplace_back(std::istreambuf_iterator<char>(file),
                                    std::istreambuf_iterator<char>());
            }
        }
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "%s: no corpus\n", argv[0]);
        return 2;
    }
    if (!finding.empty())
        finding += "/finding-" + std::to_string(seed);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(keep_finding);
    std::signal(SIGABRT, on_abort);
    for (const auto& o : corpus)
        run(o);
    std::mt19937_64 random(seed);
    const auto begin = std::chrono::steady_clock::now();
    for (size_t k = 0; k < runs; ++k) {
        run(mutate(corpus, random));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("Done %zu runs in %.0f second(s)\n", corpus.size() + runs, took.count());
    return 0;
}
