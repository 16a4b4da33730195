import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// Contents of `/metrics`, and access to it.
@Suite struct MetricsTests {
    /// The samples of a response, by name and labels.
    private static func samples(_ text: String) throws -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let space = try #require(line.lastIndex(of: " "))
            let name = String(line[..<space])
            #expect(samples[name] == nil, "\(name) occurs twice")
            samples[name] = try #require(Double(String(line[line.index(after: space)...])) as Double?, "\(line)")
        }
        return samples
    }

    @Test func requestsAreCountedByRouteAndStatus() async throws {
        try await TestServer.test(.live) { client in
            let signedIn = try await client.signedUp()
            for _ in 0..<3 { try await signedIn.send(.get, "/v1/notes/\(UniqueID.random())") }
            try await client.send(.get, "/v1/notes/x")
            try await client.send(.get, "/v1/made-up/by/a/client")
            try await signedIn.send(.head, "/v1/account")
            let response = try await client.send(.get, "/metrics")
            #expect(response.status == 200)
            #expect(response.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(response.headers[.cacheControl] == "no-store")
            let samples = try MetricsTests.samples(response.text)
            let requests = "hesper_http_requests_total"
            #expect(samples[#"\#(requests){method="POST",route="/v1/accounts",status="201"}"#] == 1)
            #expect(samples[#"\#(requests){method="GET",route="/v1/notes/{uniqueID}",status="404"}"#] == 3)
            #expect(samples[#"\#(requests){method="GET",route="/v1/notes/{uniqueID}",status="401"}"#] == 1)
            #expect(samples[#"\#(requests){method="GET",route="/v1/account",status="200"}"#] == 1)
            #expect(samples[#"\#(requests){method="",route="",status="404"}"#] == 1)
            let seconds = #"hesper_http_request_duration_seconds"#
            #expect(samples[seconds + #"_count{method="GET",route="/v1/notes/{uniqueID}"}"#] == 4)
            #expect(samples[seconds + #"_bucket{method="GET",route="/v1/notes/{uniqueID}",le="+Inf"}"#] == 4)
            // Paths that clients make up create no series.
            #expect(!response.text.contains("made-up"))
        }
    }

    @Test func commitsTotalsAndProcessMetrics() async throws {
        let change: TestServer.Change = { $0.disks = [DiskFolder(name: "data", path: "/")] }
        try await TestServer.test(.live, change) { client in
            let signedIn = try await client.signedUp()
            for _ in 0..<3 { try await signedIn.send(.post, "/v1/notes", #"{"text":"Milk"}"#) }
            let samples = try MetricsTests.samples(try await client.send(.get, "/metrics").text)
            #expect(samples["hesper_commit_duration_seconds_count"] == 3)
            #expect(samples["hesper_commit_writes_sum"] == 3)
            #expect(samples["hesper_commit_failures_total"] == 0)
            #expect(samples["hesper_accounts"] == 1)
            #expect(samples["hesper_devices"] == 1)
            #expect(samples["hesper_blob_bytes"] == 0)
            #expect(samples["hesper_event_streams"] == 0)
            #expect(samples[#"hesper_webhook_requests_total{outcome="failed"}"#] == 0)
            #expect(samples["hesper_store_up"] == 1)
            #expect(samples["hesper_attachment_removal_stopped"] == 0)
            #expect(samples[#"hesper_info{version="\#(ServerSettings().version)"}"#] == 1)
            #expect((samples[#"hesper_disk_free_bytes{folder="data"}"#] ?? 0) > 0)
            #expect((samples["process_resident_memory_bytes"] ?? 0) > 1_000_000)
            #expect((samples["process_cpu_seconds_total"] ?? 0) > 0)
            #expect((samples["process_open_fds"] ?? 0) > 3)
        }
    }

    /// Counting reads every account, so the totals are cached for a minute, with their age.
    @Test func totalsAreCountedAtMostOnceAMinute() async throws {
        try await TestServer.test(.live) { client in
            _ = try await client.signedUp()
            let first = try MetricsTests.samples(try await client.send(.get, "/metrics").text)
            #expect(first["hesper_accounts"] == 1)
            #expect(first["hesper_totals_age_seconds"] == 0)
            _ = try await client.signedUp("bob@example.org")
            let second = try MetricsTests.samples(try await client.send(.get, "/metrics").text)
            // On a machine that was suspended for a minute, the totals are counted again.
            if let age = second["hesper_totals_age_seconds"], age > 0 { #expect(second["hesper_accounts"] == 1) }

            let (reader, now) = (TotalsReader(store: client.test.store), ContinuousClock.now)
            #expect(try await reader.totals(at: now).totals.accounts == 2)
            _ = try await client.signedUp("cy@example.org")
            let later = try await reader.totals(at: now + .seconds(59))
            #expect(later.totals.accounts == 2)
            #expect(later.age == .seconds(59))
            let latest = try await reader.totals(at: now + .seconds(60))
            #expect(latest.totals.accounts == 3)
            #expect(latest.age == .zero)
        }
    }

    /// On the main address, metrics are available only from this machine, and not through a proxy on it.
    @Test(arguments: [
        ("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-Host", "notes.example.org"),
        ("X-Forwarded-Proto", "https"), ("X-Forwarded-Port", "443"), ("x-forwarded-server", "proxy"),
        ("X-Real-IP", "192.0.2.1"), ("Via", "1.1 proxy"),
    ])
    func requestsThroughAProxyAreRefused(_ name: String, _ value: String) async throws {
        try await TestServer.test(.live) { client in
            let response = try await client.send(.get, "/metrics", headers: [try #require(HTTPField.Name(name)): value])
            #expect(response.status == 404)
            #expect(try response.slug == "not-found")
        }
    }

    /// Headers with similar names do not count as those of a proxy.
    @Test(arguments: ["X-Requested-With", "X-Real", "User-Agent"])
    func otherHeadersAreAccepted(_ name: String) async throws {
        try await TestServer.test(.live) { client in
            let response = try await client.send(.get, "/metrics", headers: [try #require(HTTPField.Name(name)): "x"])
            #expect(response.status == 200)
        }
    }

    @Test func withASeparateAddressTheMainAddressHasNoMetrics() async throws {
        let change: TestServer.Change = { $0.metrics = MetricsAddress(host: "127.0.0.1", port: 0) }
        try await TestServer.test(.router, change) { client in
            let response = try await client.send(.get, "/metrics")
            #expect(response.status == 404)
        }
    }

    @Test func labelsAreEscaped() {
        var text = MetricsText()
        text.sample("x", [("a", "b\"c\\d\ne")], 1)
        #expect(text.text == #"x{a="b\"c\\d\ne"} 1"# + "\n")
    }

    @Test func histogramBucketsAreCumulative() {
        var histogram = Histogram(bounds: [0.5, 1])
        for value in [0.25, 0.75, 2, 3] { histogram.record(value) }
        var text = MetricsText()
        text.histogram("x", [("a", "b")], histogram)
        #expect(
            text.text == """
                x_bucket{a="b",le="0.5"} 1
                x_bucket{a="b",le="1"} 2
                x_bucket{a="b",le="+Inf"} 4
                x_sum{a="b"} 6.0
                x_count{a="b"} 4

                """)
    }

    /// An almost full disk is reported, but the server remains ready.
    @Test func readinessReportsAFullDisk() async throws {
        #expect(Disk.space(at: "/nowhere") == nil)
        let change: TestServer.Change = { $0.disks = [DiskFolder(name: "data", path: "/proc")] }
        try await TestServer.test(.router, change) { client in
            // /proc has no space at all.
            let response = try await client.send(.get, "/readyz")
            #expect(response.status == 200)
            #expect(
                response.text
                    == #"{"status":"ready","reasons":["The disk of the folder data is almost full: writes may fail."]}"#
            )
        }
    }
}
