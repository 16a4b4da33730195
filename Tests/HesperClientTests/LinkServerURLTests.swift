import HesperClient
import Testing

@Suite struct LinkServerURLTests {
    @Test(arguments: [
        ("https://notes.example.org", "https://notes.example.org"),
        ("HTTPS://Notes.Example.org:8443/", "https://notes.example.org:8443"),
        ("http://localhost:8080", "http://localhost:8080"), ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
        ("http://127.9.8.7", "http://127.9.8.7"), ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://notes.localhost", "http://notes.localhost"),
    ])
    func accepted(text: String, description: String) throws {
        let server = try ServerURL(text)
        #expect(server.description == description)
        #expect(server.url(path: "/v1/changes?limit=5")?.absoluteString == description + "/v1/changes?limit=5")
        #expect(server.url(path: "@evil.example/") == nil)
    }

    @Test(arguments: [
        "http://notes.example.org", "http://127.0.0.1.example.org", "http://localhost.example.org",
        "http://127.0.0.256",
        "http://[::2]", "http://192.168.0.1", "http://0.0.0.0",
    ])
    func unencryptedAddressesAreRefused(text: String) {
        #expect(throws: ServerURL.Invalid.notHTTPS(text)) { try ServerURL(text) }
    }

    @Test(arguments: [
        "", "notes.example.org", "ftp://notes.example.org", "https://", "https://ada@notes.example.org",
        "https://notes.example.org/app", "https://notes.example.org?x", "https://notes.example.org#x", "file:///etc",
        "https:///x", "https://a b",
    ])
    func otherTextsAreRefused(text: String) {
        #expect(throws: ServerURL.Invalid.notServerURL(text)) { try ServerURL(text) }
    }
}
