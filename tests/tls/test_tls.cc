/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The local authority and both ends of TLS apart, without sockets.
#include "tls/openssl.h"
#include "tls/session.h"

#include <gtest/gtest.h>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <random>

namespace gr::hf::tls {
namespace {

//! The system's level is the lowest, so that what is refused is refused by our own.
const bool lowest_level = [] {
    static char name[] = "/tmp/hf-tls-conf-XXXXXX";
    ::close(::mkstemp(name));
    std::ofstream(name) << "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\n"
                           "system_default = default\n[default]\n"
                           "CipherString = DEFAULT@SECLEVEL=0\n";
    ::setenv("OPENSSL_CONF", name, 1);
    std::atexit([] { ::unlink(name); });
    return true;
}();

struct tls_apart : testing::Test {
    tls_apart()
    {
        char name[] = "/tmp/hf-tls-XXXXXX";
        folder = ::mkdtemp(name);
    }
    ~tls_apart() override
    {
        ::unlink((folder + "/ca/ca.key").c_str());
        ::unlink((folder + "/store.pem").c_str());
        ::rmdir((folder + "/ca").c_str());
        ::rmdir(folder.c_str());
    }
    //! The trust store of the far end has this certificate only.
    void trust(const authority& ca)
    {
        const std::string store = folder + "/store.pem";
        std::ofstream(store) << ca.certificate();
        ::setenv("SSL_CERT_FILE", store.c_str(), 1);
        ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    }
    //! Octets both ways until none is left.
    static void exchange(session& a, session& b)
    {
        for (bool any = true; any;) {
            any = false;
            for (auto [from, to] : { std::pair{ &a, &b }, std::pair{ &b, &a } }) {
                const auto data = from->poll();
                if (!data.empty())
                    to->feed(data.data(), data.size());
                any = any || !data.empty();
            }
        }
    }
    std::string folder;
};

octets of(const std::string& text) { return { text.begin(), text.end() }; }

TEST_F(tls_apart, the_key_is_for_its_owner_and_rotate_replaces_it)
{
    authority first(folder + "/ca");
    struct stat file;
    ASSERT_EQ(::stat(first.path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat((folder + "/ca").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0700u);
    EXPECT_EQ(first.certificate().find("PRIVATE"), std::string::npos);
    EXPECT_EQ(first.fingerprint().size(), 95u);
    const long days = (first.not_after() - std::time(nullptr)) / 86400;
    EXPECT_TRUE(days >= 364 && days <= 365) << days;
    authority second(folder + "/ca");
    EXPECT_EQ(second.certificate(), first.certificate());
    second.rotate();
    EXPECT_NE(second.certificate(), first.certificate());
    ASSERT_EQ(::stat(first.path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(tls_apart, a_key_that_others_may_read_or_a_damaged_file_is_refused)
{
    const std::string path = authority(folder + "/ca").path();
    for (const mode_t others : { 040, 020, 010, 04, 02, 01 }) {
        ::chmod(path.c_str(), 0600 | others);
        EXPECT_THROW(authority(folder + "/ca"), std::runtime_error) << others;
    }
    ::chmod(path.c_str(), 0600);
    EXPECT_NO_THROW(authority(folder + "/ca"));
    std::ofstream(path) << "nothing";
    EXPECT_THROW(authority(folder + "/ca"), std::runtime_error);
    EXPECT_THROW(authority("/proc/none"), std::runtime_error);
}

TEST_F(tls_apart, text_passes_both_ways_with_a_protocol)
{
    authority ca(folder + "/ca");
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    session near(programs, ca), far(servers, "shop.example", { "h2", "http/1.1" });
    exchange(near, far);
    EXPECT_TRUE(near.waits());
    ASSERT_TRUE(near.from_program());
    EXPECT_EQ(near.from_program()->server_name, "shop.example");
    EXPECT_EQ(near.from_program()->alpn, (std::vector<std::string>{ "h2", "http/1.1" }));
    near.go_on("shop.example", "http/1.1");
    exchange(near, far);
    ASSERT_TRUE(near.open() && far.open()) << far.why() << near.why();
    EXPECT_EQ(far.alpn(), "http/1.1");
    const octets text = of(std::string(100'000, 'x'));
    far.write(text);
    exchange(far, near);
    EXPECT_EQ(near.read(), text);
    near.write(of("answer"));
    near.finish();
    exchange(near, far);
    EXPECT_EQ(far.read(), of("answer"));
    EXPECT_TRUE(far.ended());
    EXPECT_FALSE(near.ended());
}

TEST_F(tls_apart, the_far_end_says_what_is_wrong_with_a_certificate)
{
    authority ca(folder + "/ca");
    const auto fault_for = [&](const std::string& asked, const std::string& shown) {
        const auto programs = context::for_programs(), servers = context::for_servers();
        session near(programs, ca), far(servers, asked, {});
        exchange(near, far);
        near.go_on(shown, "");
        exchange(near, far);
        EXPECT_EQ(far.open(), far.failed() == fault::none);
        EXPECT_EQ(far.why().empty(), far.open());
        return far.failed();
    };
    ::setenv("SSL_CERT_FILE", "/nonexistent", 1);
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::not_trusted);
    trust(ca);
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::none);
    EXPECT_EQ(fault_for("10.1.2.3", "10.1.2.3"), fault::none);
    EXPECT_EQ(fault_for("fd00::1", "fd00::1"), fault::none);
    EXPECT_EQ(fault_for("shop.example", "other.example"), fault::wrong_name);
    EXPECT_EQ(fault_for("10.1.2.3", "10.1.2.4"), fault::wrong_name);
    EXPECT_EQ(fault_for("no name\n", "shop.example"), fault::no_handshake);
    authority(folder + "/ca").rotate(); // as hf pep ca beside the station
    EXPECT_EQ(fault_for("shop.example", "shop.example"), fault::not_trusted);
}

TEST_F(tls_apart, a_refused_program_sees_an_alert)
{
    authority ca(folder + "/ca");
    const auto programs = context::for_programs(), servers = context::for_servers();
    const std::pair<fault, const char*> alerts[] = {
        { fault::expired, "expired" },
        { fault::not_trusted, "unknown ca" },
        { fault::wrong_name, "bad certificate" },
        { fault::no_handshake, "handshake failure" }
    };
    for (const auto& [why, alert] : alerts) {
        session near(programs, ca), far(servers, "shop.example", {});
        exchange(near, far);
        near.refuse(why);
        exchange(near, far);
        EXPECT_NE(near.failed(), fault::none);
        EXPECT_NE(far.why().find(alert), std::string::npos) << far.why();
    }
}

TEST_F(tls_apart, anything_may_come_from_either_side)
{
    authority ca(folder + "/ca");
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    std::mt19937 rng(5);
    size_t opened = 0;
    for (int k = 0; k < 300; ++k) {
        session near(programs, ca), far(servers, "shop.example", { "http/1.1" });
        for (int step = 0; step < 6; ++step) {
            auto data = step % 2 ? near.poll() : far.poll();
            if (k % 3 && !data.empty() && rng() % 4 == 0)
                data[rng() % data.size()] ^= static_cast<uint8_t>(1 << rng() % 8);
            if (k % 5 == 0)
                data.resize(rng() % 600, static_cast<uint8_t>(rng()));
            (step % 2 ? far : near).feed(data.data(), data.size());
            if (near.waits())
                near.go_on("shop.example", "http/1.1");
            near.read();
            far.read();
        }
        opened += near.open() && far.open();
    }
    EXPECT_GT(opened, 50u);
    EXPECT_LT(opened, 300u);
}

owned<X509> certificate_of(const std::string& pem)
{
    const owned<BIO> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return owned<X509>(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
}

//! The serial number of the certificate that an authority gives for a host.
std::string serial_for(authority& ca, const std::string& host)
{
    const owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
    const owned<SSL> ssl(SSL_new(context.get()));
    EXPECT_TRUE(ca.use_certificate(ssl.get(), host)) << host;
    X509* x = SSL_get_certificate(ssl.get());
    EXPECT_EQ(X509_check_ca(x), 0) << "it may sign others";
    EXPECT_EQ(X509_check_host(x, host.c_str(), 0, 0, nullptr), 1) << host;
    const ASN1_INTEGER* n = X509_get0_serialNumber(x);
    return { reinterpret_cast<const char*>(n->data), size_t(n->length) };
}

TEST_F(tls_apart, the_authority_signs_servers_and_no_authorities)
{
    authority ca(folder + "/ca");
    const auto x = certificate_of(ca.certificate());
    EXPECT_EQ(X509_check_ca(x.get()), 1);
    EXPECT_EQ(X509_get_pathlen(x.get()), 0);
    EXPECT_EQ(X509_get_key_usage(x.get()), uint32_t(KU_KEY_CERT_SIGN));
    serial_for(ca, "shop.example");
}

TEST_F(tls_apart, certificates_of_256_servers_are_kept)
{
    authority ca(folder + "/ca");
    const auto name = [](int k) { return "host-" + std::to_string(k) + ".example"; };
    const auto first = serial_for(ca, name(0));
    for (int k = 1; k < 256; ++k)
        serial_for(ca, name(k));
    EXPECT_EQ(serial_for(ca, name(0)), first);
    serial_for(ca, name(256));
    EXPECT_NE(serial_for(ca, name(0)), first);
}

//! A server with any certificate, at the lowest level.
struct plain_server {
    plain_server(X509* x, EVP_PKEY* key, int version)
    {
        context.reset(SSL_CTX_new(TLS_server_method()));
        SSL_CTX_set_security_level(context.get(), 0);
        SSL_CTX_set_min_proto_version(context.get(), 0);
        SSL_CTX_set_max_proto_version(context.get(), version);
        EXPECT_EQ(SSL_CTX_use_certificate(context.get(), x), 1);
        EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), key), 1);
        ssl.reset(SSL_new(context.get()));
        in = BIO_new(BIO_s_mem());
        out = BIO_new(BIO_s_mem());
        BIO_set_mem_eof_return(in, -1);
        SSL_set_bio(ssl.get(), in, out);
        SSL_set_accept_state(ssl.get());
    }
    //! Octets both ways until none is left. \return of the handshake
    int exchange(session& far)
    {
        int done = 0;
        for (bool any = true; any;) {
            const auto data = far.poll();
            BIO_write(in, data.data(), static_cast<int>(data.size()));
            done = SSL_do_handshake(ssl.get());
            char unused = 0;
            SSL_read(ssl.get(), &unused, 1); // takes what follows the handshake
            octets answer(BIO_ctrl_pending(out));
            if (!answer.empty())
                BIO_read(out, answer.data(), static_cast<int>(answer.size()));
            far.feed(answer.data(), answer.size());
            far.read();
            any = !data.empty() || !answer.empty();
        }
        return done;
    }
    owned<SSL_CTX> context;
    owned<SSL> ssl;
    BIO *in = nullptr, *out = nullptr; // of ssl
};

owned<EVP_PKEY> p256() { return owned<EVP_PKEY>(EVP_EC_gen("P-256")); }

//! A self-signed certificate. \param alternative subjectAltName, empty: none
owned<X509> made(EVP_PKEY* key, const EVP_MD* digest, const std::string& alternative)
{
    owned<X509> x(X509_new());
    X509_set_version(x.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x.get()), 7);
    X509_gmtime_adj(X509_getm_notBefore(x.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x.get()), 3600);
    X509_set_pubkey(x.get(), key);
    X509_NAME* name = X509_get_subject_name(x.get());
    X509_NAME_add_entry_by_txt(name,
                               "CN",
                               MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("shop.example"),
                               -1,
                               -1,
                               0);
    X509_set_issuer_name(x.get(), name);
    if (!alternative.empty()) {
        X509_EXTENSION* e = X509V3_EXT_conf_nid(
            nullptr, nullptr, NID_subject_alt_name, alternative.c_str());
        X509_add_ext(x.get(), e, -1);
        X509_EXTENSION_free(e);
    }
    EXPECT_GT(X509_sign(x.get(), key, digest), 0);
    return x;
}

//! What a far end makes of a trusted server with this key and certificate.
fault fault_with(const std::string& folder,
                 const owned<EVP_PKEY>& key,
                 const EVP_MD* digest,
                 const std::string& alternative)
{
    const auto x = made(key.get(), digest, alternative);
    const owned<BIO> pem(BIO_new_file((folder + "/store.pem").c_str(), "w"));
    PEM_write_bio_X509(pem.get(), x.get());
    BIO_flush(pem.get());
    ::setenv("SSL_CERT_FILE", (folder + "/store.pem").c_str(), 1);
    ::setenv("SSL_CERT_DIR", "/nonexistent", 1);
    const auto servers = context::for_servers();
    session far(servers, "shop.example", {});
    plain_server server(x.get(), key.get(), TLS1_3_VERSION);
    server.exchange(far);
    EXPECT_EQ(far.open(), far.failed() == fault::none);
    return far.failed();
}

TEST_F(tls_apart, old_and_weak_certificates_are_refused_whatever_the_system_says)
{
    const auto* sha256 = EVP_sha256();
    EXPECT_EQ(fault_with(folder, p256(), sha256, "DNS:shop.example"), fault::none);
    EXPECT_EQ(fault_with(folder, p256(), sha256, ""), fault::wrong_name)
        << "only the common name has it";
    EXPECT_EQ(fault_with(folder, p256(), sha256, "email:a@shop.example"),
              fault::wrong_name);
    EXPECT_EQ(fault_with(folder, p256(), sha256, "DNS:s*.example"), fault::wrong_name);
    const owned<EVP_PKEY> weak(EVP_RSA_gen(1024)), strong(EVP_RSA_gen(2048));
    EXPECT_EQ(fault_with(folder, strong, sha256, "DNS:shop.example"), fault::none);
    EXPECT_NE(fault_with(folder, weak, sha256, "DNS:shop.example"), fault::none);
}

TEST_F(tls_apart, an_authority_may_be_limited_to_names)
{
    authority ca(folder + "/ca", { "shop.example", "news.example" });
    EXPECT_EQ(ca.names(), (std::vector<std::string>{ "news.example", "shop.example" }));
    EXPECT_TRUE(authority(folder + "/other").names().empty());
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    for (const auto& [host, permitted] : { std::pair{ "shop.example", true },
                                           { "www.news.example", true },
                                           { "bank.example", false },
                                           { "notshop.example", false },
                                           { "10.1.2.3", false },
                                           { "fd00::1", false } }) {
        session near(programs, ca), far(servers, host, {});
        exchange(near, far);
        near.go_on(host, "");
        exchange(near, far);
        EXPECT_EQ(near.open() && far.open(), permitted) << host << far.why();
        if (!permitted) {
            EXPECT_EQ(near.why(),
                      std::string("the certificate authority is not for ") + host);
        }
    }
    // Programs check it as well: a certificate of the stolen key for another host.
    const owned<BIO> in(BIO_new_file(ca.path().c_str(), "r"));
    const owned<EVP_PKEY> key(
        PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
    const auto issuer = certificate_of(ca.certificate());
    const auto forged = made(key.get(), EVP_sha256(), "DNS:bank.example");
    X509_set_issuer_name(forged.get(), X509_get_subject_name(issuer.get()));
    X509_sign(forged.get(), key.get(), EVP_sha256());
    session far(servers, "bank.example", {});
    plain_server server(forged.get(), key.get(), TLS1_3_VERSION);
    server.exchange(far);
    EXPECT_EQ(far.failed(), fault::refused) << far.why();
    authority(folder + "/ca", { "bank.example" }).rotate();
    EXPECT_EQ(authority(folder + "/ca").names(),
              std::vector<std::string>{ "bank.example" });
    ::unlink((folder + "/other/ca.key").c_str());
    ::rmdir((folder + "/other").c_str());
}

TEST_F(tls_apart, a_server_cannot_begin_another_handshake)
{
    const auto key = p256();
    const auto x = made(key.get(), EVP_sha256(), "DNS:shop.example");
    const owned<BIO> pem(BIO_new_file((folder + "/store.pem").c_str(), "w"));
    PEM_write_bio_X509(pem.get(), x.get());
    BIO_flush(pem.get());
    ::setenv("SSL_CERT_FILE", (folder + "/store.pem").c_str(), 1);
    const auto servers = context::for_servers();
    session far(servers, "shop.example", {});
    plain_server server(x.get(), key.get(), TLS1_2_VERSION);
    ASSERT_EQ(server.exchange(far), 1);
    ASSERT_TRUE(far.open()) << far.why();
    ASSERT_EQ(SSL_renegotiate(server.ssl.get()), 1);
    server.exchange(far);
    EXPECT_EQ(SSL_CTX_sess_accept_renegotiate(server.context.get()), 1);
    EXPECT_EQ(SSL_CTX_sess_accept_good(server.context.get()), 1);
}

//! A host name of \p n octets in labels of up to 49.
std::string long_name(size_t n)
{
    std::string name;
    while (name.size() < n)
        name += name.size() % 50 == 49 && n - name.size() > 1 ? '.' : 'a';
    return name;
}

TEST_F(tls_apart, names_of_up_to_210_octets_pass)
{
    authority ca(folder + "/ca");
    trust(ca);
    const auto programs = context::for_programs(), servers = context::for_servers();
    for (const size_t n : { 64, 65, 100, 101, 150, 209, 210, 211 }) {
        const std::string name = long_name(n);
        ASSERT_EQ(name.size(), n);
        session near(programs, ca), far(servers, name, {});
        exchange(near, far);
        near.go_on(name, "");
        exchange(near, far);
        EXPECT_EQ(far.open(), n <= 210) << n << " " << far.why();
    }
}

TEST(tls_names, only_plain_host_names)
{
    EXPECT_TRUE(is_host_name("shop.example") && is_host_name("a_b-c.1"));
    EXPECT_TRUE(is_host_name(std::string(210, 'a')));
    for (const char* bad : { "", "a b", "a\nb", "*.example", "a,DNS:b", "\xe4.example" })
        EXPECT_FALSE(is_host_name(bad)) << bad;
    EXPECT_FALSE(is_host_name(std::string(211, 'a')));
}

} // namespace
} // namespace gr::hf::tls
