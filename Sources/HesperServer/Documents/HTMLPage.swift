import Crypto
import Foundation
import HTTPTypes
import HesperModel
import Hummingbird
import NIOCore

/// An HTML page that loads nothing from other servers and runs no script.
struct HTMLPage: Sendable {
    let title: String
    /// The content of `<body>`, as HTML.
    let body: String

    /// Escapes text for HTML.
    static func escape(_ text: some StringProtocol) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// The error message above a form that was submitted with invalid values; empty if there is no problem.
    static func alert(_ problem: Problem?) -> String {
        problem.map { "<p class=\"error\" role=\"alert\">\(escape($0.detail))</p>" } ?? ""
    }

    /// A link to the web app; empty if the server has no web app.
    static func webAppLink(_ text: String, hasWebApp: Bool) -> String {
        hasWebApp ? "<p><a href=\"/\">\(escape(text))</a></p>" : ""
    }

    /// Whether the request is from a browser that expects an HTML page. False for all paths of the API, because the API always
    /// responds with JSON.
    static func isRequested(by request: Request) -> Bool {
        [.get, .head].contains(request.method) && !request.uri.path.hasPrefix("/v1/")
            && request.headers[.accept]?.contains("text/html") ?? false
    }

    /// The response for a path without a page.
    static var notFound: Response {
        let page = HTMLPage(
            title: "Page not found",
            body: """
                <h1>Page not found</h1>
                <p>There is no page at this address.</p>
                <p><a href="/">Home page</a></p>
                """)
        return page.response(status: .notFound)
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(HTMLPage.escape(title))</title>
        <style>\(HTMLPage.style)</style>
        </head>
        <body>
        \(body)
        </body>
        </html>

        """
    }

    func response(status: HTTPResponse.Status = .ok) -> Response {
        var headers = HTMLPage.headers
        headers[.contentType] = "text/html; charset=utf-8"
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html)))
    }

    /// The headers of a page. They permit only the page's own style, which is identified by its hash (Content Security Policy 3).
    /// Nothing else may be loaded or run.
    private static let headers = BrowserDefences.page(
        policy:
            "default-src 'none'; style-src 'sha256-\(Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString())'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'", referrer: "no-referrer")

    private static let style = """
        :root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#0b57d0, #8ab4f8); }
        * { box-sizing: border-box; }
        body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
        h1, h2, h3, h4 { line-height: 1.25; margin: 2rem 0 .5rem; }
        h1 { margin-top: 0; }
        h2 { border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
        a { color: var(--link); }
        code, pre { font: .875em/1.5 ui-monospace, monospace; }
        code { background: var(--soft); padding: .1em .3em; border-radius: .25em; overflow-wrap: anywhere; }
        pre { background: var(--soft); padding: .75rem 1rem; border-radius: .5rem; overflow-x: auto; }
        pre code { background: none; padding: 0; }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
        th, td { border-top: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; }
        td:last-child { width: 60%; }
        td p { margin: 0 0 .35rem; }
        nav ul { columns: 16rem; padding-left: 1.2rem; }
        details > summary { cursor: pointer; }
        article { border-top: 1px solid var(--line); padding-top: .25rem; margin-top: 1.5rem; }
        label { display: block; margin: 1rem 0 .25rem; }
        input { font: inherit; width: 100%; max-width: 28rem; padding: .5rem; }
        button { display: block; font: inherit; margin-top: 1.25rem; padding: .5rem 1.25rem; border: 0;
            border-radius: .5rem; color: #2a1b04; background: light-dark(#e5a03a, #f2b850); cursor: pointer; }
        .method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
        .error { border-left: .25rem solid #d33; padding-left: .75rem; }
        """
}
