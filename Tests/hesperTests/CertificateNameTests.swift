import Testing

@testable import hesper

/// Names in certificates and the name constraints of an authority.
@Suite struct CertificateNameTests {
    @Test(arguments: [
        ("localhost", "localhost"), ("Notes.Example.ORG", "notes.example.org"), ("a_b.local", "a_b.local"),
        ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("[2001:DB8::1]", "2001:db8::1"), ("3com.com", "3com.com"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ]) func validNamesAreParsed(_ host: String, _ text: String) {
        #expect(CertificateName(host)?.text == text)
    }

    @Test(arguments: [
        "", ".", "a..b", "bücher.example", "*.example.org", "a b", "example.org.", "[localhost]", "1.2.3", "256.1.1.1",
        String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "ab",
    ]) func invalidNamesAreRefused(_ host: String) {
        #expect(CertificateName(host) == nil)
    }

    @Test func unspecifiedAddressesAreNotInCertificates() throws {
        for host in ["0.0.0.0", "::", "[::]"] { #expect(try #require(CertificateName(host)).isUnspecified) }
        for host in ["0.0.0.1", "::1", "localhost"] { #expect(try !#require(CertificateName(host)).isUnspecified) }
        let names = ServerNames(configured: [try #require(CertificateName("0.0.0.0"))], machine: "desk")
        #expect(names.all.map(\.text) == ["localhost", "127.0.0.1", "::1", "desk"])
        #expect(names.warning(host: "0.0.0.0")?.contains("HESPER_URL") == true)
        #expect(names.warning(host: "127.0.0.1") == nil)
        let url = ServerNames(configured: [try #require(CertificateName("192.168.1.20"))], machine: "desk")
        #expect(url.warning(host: "::") == nil)
    }

    @Test func duplicateNamesAreRemoved() throws {
        let configured = try ["LOCALHOST", "127.0.0.1", "desk.local"].map { try #require(CertificateName($0)) }
        let names = ServerNames(configured: configured, machine: "desk.local")
        #expect(names.all.map(\.text) == ["localhost", "127.0.0.1", "::1", "desk.local"])
    }

    @Test(arguments: [
        ("notes.example.org", "example.org", true), ("example.org", "example.org", true),
        ("badexample.org", "example.org", false), ("a.example.org", ".example.org", true),
        ("example.org", ".example.org", false), ("org", "example.org", false),
        ("192.168.7.1", "192.168.0.0/16", true), ("192.169.7.1", "192.168.0.0/16", false),
        ("172.31.0.1", "172.16.0.0/12", true), ("172.32.0.1", "172.16.0.0/12", false),
        ("fd12::1", "fc00::/7", true), ("fe12::1", "fc00::/7", false), ("::1", "127.0.0.0/8", false),
        ("example.org", "10.0.0.0/8", false), ("10.0.0.1", "example.org", false),
    ]) func nameConstraints(_ host: String, _ limit: String, _ isWithin: Bool) throws {
        let name = try #require(CertificateName(host))
        let subdomains = CertificateName(String(limit.dropFirst()))?.subdomains
        let subtree = try #require(
            limit.hasPrefix(".") ? subdomains : CertificateName.network(limit) ?? CertificateName(limit)?.subtree)
        #expect(name.isWithin(subtree) == isWithin)
    }
}
