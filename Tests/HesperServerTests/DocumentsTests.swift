import Foundation
import HTTPTypes
import HesperModel
import Testing

@testable import HesperServer

@Suite struct DocumentsTests {
    private static let withContract: TestServer.Change = { $0.contract = "openapi.yaml" }

    @Test func theContractIsServedUnchanged() async throws {
        try await TestServer.test(.router, DocumentsTests.withContract) { client in
            let response = try await client.send(.get, "/openapi.yaml")
            #expect(response.status == 200)
            #expect(response.headers[.contentType] == "application/yaml")
            #expect(response.text == ContractTests.yaml)
        }
    }

    @Test func theContractIsServedAsJSON() async throws {
        try await TestServer.test(.router, DocumentsTests.withContract) { client in
            let response = try await client.send(.get, "/openapi.json")
            #expect(response.status == 200)
            #expect(response.headers[.contentType] == "application/json")
            let paths = try response.json.member("paths")
            let contract = try Contract(yaml: #require(ContractTests.yaml))
            guard case .object(let members) = paths else { return #expect(Bool(false)) }
            #expect(members.members.map(\.name) == contract.members(contract.root["paths"]).map(\.0))
        }
    }

    @Test func theDocsPageHasEveryOperationAndSchema() async throws {
        let contract = try Contract(yaml: #require(ContractTests.yaml))
        let anchors = contract.operations.map(\.id) + contract.schemas.map { "schema-\($0.0)" }
        try await TestServer.test(.router, DocumentsTests.withContract) { client in
            let page = try await client.send(.get, "/docs")
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(Set(anchors).subtracting(DocumentsTests.values(after: "<article id=", in: page.text)).isEmpty)
            // Every link within the page has a target.
            let links = DocumentsTests.values(after: "href=", in: page.text).filter { $0.hasPrefix("#") }
            let targets = Set(DocumentsTests.values(after: " id=", in: page.text).map { "#\($0)" })
            #expect(!links.isEmpty && links.subtracting(targets).isEmpty)
            #expect(!page.text.contains("<script") && !page.text.contains("style=\""))
            #expect(page.text.contains(#"&quot;archived&quot;: false"#))
        }
    }

    /// The attributes after `text` in a page. (A search for each ID in the page, which has a megabyte, takes 20 seconds.)
    private static func values(after text: String, in page: String) -> Set<String> {
        Set(page.components(separatedBy: "\(text)\"").dropFirst().map { String($0.prefix { $0 != "\"" }) })
    }

    /// The policy allows the one style by its hash. With another hash the page would have no style.
    @Test func thePolicyAllowsTheStyle() async throws {
        try await TestServer.test { client in
            let page = try await client.send(.get, "/problems/deleted")
            let style = try #require(page.text.firstMatch(of: #/<style>((?s).*?)</style>/#)).1
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.contains("'sha256-\(sha256(String(style)))'"))
        }
    }

    @Test(arguments: [nil, "/nowhere/openapi.yaml"]) func withoutTheContractFile(_ path: String?) async throws {
        let change: TestServer.Change = { $0.contract = path }
        try await TestServer.test(.router, change) { client in
            for url in ["/openapi.yaml", "/openapi.json", "/docs"] {
                try await Row("missing", .get, url, status: 404, contains: ["without its contract"]).check(client)
            }
            #expect(try await client.send(.get, "/healthz").status == 200)
        }
    }

    @Test(arguments: Problem.Slug.allCases) func everyProblemHasAPage(_ slug: Problem.Slug) async throws {
        try await TestServer.test { client in
            let page = try await client.send(.get, "/problems/\(slug.rawValue)")
            #expect(page.status == 200)
            #expect(page.text.contains("<code>\(slug.rawValue)</code>, HTTP status \(slug.status)"))
            #expect(page.text.contains("What to do"))
        }
    }

    @Test func anUnknownProblemHasNoPage() async throws {
        try await TestServer.test { client in
            try await Row("unknown", .get, "/problems/%3Cb%3E", status: 404, contains: ["<b>"]).check(client)
        }
    }

    @Test(arguments: [
        ("a\nb\n\nc", "<p>a b</p>\n<p>c</p>\n"),
        ("## A `b` c", "<h3>A <code>b</code> c</h3>\n"),
        ("* one\n  more\n* **two**", "<ul><li>one more</li><li><strong>two</strong></li></ul>\n"),
        ("a:\n\n    <code>\n\nb", "<p>a:</p>\n<pre><code>&lt;code&gt;</code></pre>\n<p>b</p>\n"),
        ("`a*b*` *c* & `", "<p><code>a*b*</code> <em>c</em> &amp; </p>\n"),
        ("2 * 3", "<p>2 * 3</p>\n"), ("", ""),
    ]) func markdown(_ text: String, _ html: String) {
        #expect(Markdown.html(text) == html)
    }
}
