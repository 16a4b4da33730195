import Foundation
import HTTPTypes
import HesperModel
import Testing

@testable import HesperServer

/// The served files of the web app, and the script that lists them.
@Suite final class WebAppTests: Sendable {
    private let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)

    init() throws {
        try write("<!doctype html>", to: "index.html")
        try write("run()", to: "js/ui/list.js")
        try write("work()", to: "sw.js")
        try write("{}", to: "manifest.webmanifest")
        try write("a {}", to: "css/app.css")
        try write("<svg/>", to: "icons/hesper.svg")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func test(_ body: @Sendable (TestClient) async throws -> Void) async throws {
        let path = folder.path
        try await TestServer.test(.router, { $0.webApp = path }, body)
    }

    @Test(arguments: [
        ("/", "text/html; charset=utf-8", "<!doctype html>"),
        ("/?from=elsewhere", "text/html; charset=utf-8", "<!doctype html>"),
        ("/capture?text=shared", "text/html; charset=utf-8", "<!doctype html>"),
        ("/js/ui/list.js", "text/javascript; charset=utf-8", "run()"),
        ("/sw.js", "text/javascript; charset=utf-8", "work()"),
        ("/manifest.webmanifest", "application/manifest+json; charset=utf-8", "{}"),
        ("/css/app.css", "text/css; charset=utf-8", "a {}"),
        ("/icons/hesper.svg", "image/svg+xml; charset=utf-8", "<svg/>"),
    ]) func filesAreServed(_ path: String, _ type: String, _ text: String) async throws {
        try await test { client in
            let response = try await client.send(.get, path)
            #expect(response.status == 200)
            #expect(response.text == text)
            #expect(response.headers[.contentType] == type)
            #expect(response.headers[.cacheControl] == "no-cache")
            #expect(response.headers[.xContentTypeOptions] == "nosniff")
            #expect(response.headers[.referrerPolicy] == "same-origin")
            #expect(response.headers[.crossOriginOpenerPolicy] == "same-origin")

            let tag = try #require(response.headers[.eTag])
            #expect(tag == ETag(of: Array(text.utf8)).text)
            let again = try await client.send(.get, path, headers: [.ifNoneMatch: tag])
            #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag)
            let head = try await client.send(.head, path)
            #expect(head.status == 200 && head.text.isEmpty && head.headers[.contentType] == type)
        }
    }

    @Test func thePolicyAllowsOnlyThisOrigin() async throws {
        try await test { client in
            let policy = try #require(try await client.send(.get, "/").headers[.contentSecurityPolicy])
            #expect(!policy.contains("unsafe"))
            #expect(
                policy.components(separatedBy: "; ") == [
                    "default-src 'self'", "img-src 'self' blob: data:", "media-src 'self' blob:", "object-src 'none'",
                    "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'",
                    "require-trusted-types-for 'script'", "trusted-types hesper hesper-paste",
                ])
        }
    }

    @Test(arguments: [
        "/index.html", "/js", "/js/", "/js/app.js", "//js/ui/list.js", "/js/../sw.js", "/js/%2e%2e/sw.js", "/sw.js/",
        "/..", "/../openapi.yaml", "/%2e%2e/openapi.yaml", "/js/ui/list.js%00", "/JS/ui/list.js", "/.hidden.js",
        "/notes.txt", "/link.js", "/js/ui/list.js~",
    ]) func otherPathsAreNotFound(_ path: String) async throws {
        try write("-", to: ".hidden.js")
        try write("-", to: "notes.txt")
        try write("-", to: "js/ui/list.js~")
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "link.js"), withDestinationURL: folder.appending(path: "sw.js"))
        try await test { client in
            let response = try await client.send(.get, path)
            #expect(response.status == 404)
        }
    }

    @Test func otherMethodsAreNotAllowed() async throws {
        try await test { client in
            let response = try await client.send(.post, "/sw.js", "{}")
            #expect(response.status == 405)
            #expect(response.headers[.allow] == "GET, HEAD, OPTIONS")
        }
    }

    /// The value that `/shell.js` assigns.
    private static func shell(_ client: TestClient) async throws -> (version: String, files: JSONObject) {
        let response = try await client.send(.get, "/shell.js")
        #expect(response.headers[.contentType] == "text/javascript; charset=utf-8")
        let json = try #require(response.text.wholeMatch(of: #/self\.shell = (.*)\n/#)).1
        let shell = try JSONReader.read(Array(json.utf8))
        guard case .object(let files) = try shell.member("files") else { throw JSON.Missing(what: "an object") }
        return (try shell.member("version").string, files)
    }

    @Test func theShellListsAllFilesExceptTheWorker() async throws {
        try await test { client in
            let (version, files) = try await WebAppTests.shell(client)
            #expect(version.count == 16)
            #expect(
                files.members.map(\.name) == [
                    "/", "/css/app.css", "/icons/hesper.svg", "/js/ui/list.js", "/manifest.webmanifest",
                ])
            for file in files.members {
                let text = try await client.send(.get, file.name).text
                #expect(file.value == .string("sha256-\(sha256(text))"))
            }
        }
    }

    /// Tag, length and listing are those of the served script; an unclear script is served unchanged.
    @Test(arguments: [("run() // why", "run()"), ("a++ / 2 // why", "a++ / 2 // why")])
    func scriptsAreServedWithoutComments(_ source: String, _ code: String) async throws {
        try write(source, to: "js/ui/list.js")
        try write("/* why */ a {}", to: "css/app.css")
        try await test { client in
            let response = try await client.send(.get, "/js/ui/list.js")
            #expect(response.text == code)
            #expect(response.headers[.eTag] == ETag(of: Array(code.utf8)).text)
            let files = try await WebAppTests.shell(client).files.members
            #expect(files.first { $0.name == "/js/ui/list.js" }?.value == .string("sha256-\(sha256(code))"))
            #expect(try await client.send(.get, "/css/app.css").text == "/* why */ a {}")
        }
    }

    @Test func changedFilesAreServedWithoutARestart() async throws {
        try await test { client in
            let before = try await WebAppTests.shell(client)
            try write("run(again)", to: "js/ui/list.js")
            try write("new()", to: "js/new.js")
            try FileManager.default.removeItem(at: folder.appending(path: "css/app.css"))
            try await Task.sleep(for: .milliseconds(1_050))
            #expect(try await client.send(.get, "/js/ui/list.js").text == "run(again)")
            #expect(try await client.send(.get, "/js/new.js").text == "new()")
            #expect(try await client.send(.get, "/css/app.css").status == 404)
            let after = try await WebAppTests.shell(client)
            #expect(after.version != before.version)
            #expect(after.files.members.map(\.name).contains("/js/new.js"))
        }
    }

    @Test func theVersionDoesNotDependOnTheWorker() async throws {
        try await test { client in
            let before = try await WebAppTests.shell(client).version
            try write("work(more)", to: "sw.js")
            try await Task.sleep(for: .milliseconds(1_050))
            #expect(try await client.send(.get, "/sw.js").text == "work(more)")
            #expect(try await WebAppTests.shell(client).version == before)
        }
    }

    @Test func aFolderThatIsTooLargeIsNotServed() async throws {
        try Data(count: WebAppListing.mostBytes).write(to: folder.appending(path: "large.png"))
        try await test { client in
            try await Row("too large", .get, "/", status: 404, contains: ["without the web app"]).check(client)
        }
    }

    @Test func deletedFilesAreStillServed() async throws {
        try await test { client in
            try FileManager.default.removeItem(at: folder)
            try await Task.sleep(for: .milliseconds(1_050))
            let page = try await client.send(.get, "/")
            #expect(page.text == "<!doctype html>")
        }
    }

    @Test(arguments: [nil, "/nowhere"]) func withoutTheFolder(_ path: String?) async throws {
        let change: TestServer.Change = { $0.webApp = path }
        try await TestServer.test(.router, change) { client in
            try await Row("missing", .get, "/", status: 404, contains: ["without the web app"]).check(client)
            for url in ["/sw.js", "/shell.js"] {
                try await Row("missing", .get, url, status: 404, contains: ["The path \(url) does not exist"]).check(
                    client)
            }
            #expect(try await client.send(.get, "/healthz").status == 200)
        }
    }

    /// The secret is in the fragment, so browsers do not send it and proxies do not log it.
    @Test func theFirstAccountLinkLeadsToTheWebApp() async throws {
        let path = folder.path
        let change: TestServer.Change = { ($0.webApp, $0.signUp) = (path, .closed) }
        try await TestServer.test(.router, change) { client in
            let link = try #require(client.test.server.firstAccountLink(origin: "https://notes.example.org"))
            let match = try #require(
                link.wholeMatch(of: #/https://notes\.example\.org/\#/sign-up\?invitation=([A-Za-z0-9_-]{43})/#))
            let body = #"{"email":"a@example.org","password":"12345678","deviceName":"x","invitation":"\#(match.1)"}"#
            #expect(try await client.send(.post, "/v1/accounts", body).status == 201)
        }
    }
}
