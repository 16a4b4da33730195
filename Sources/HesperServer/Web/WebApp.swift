import HTTPTypes
import HesperModel
import Hummingbird
import Logging

/// Serves the web app. It consists of the files of the folder `Public/` and the script `/shell.js`, which lists the files. Comments
/// are removed from scripts.
struct WebApp: Resource {
    private let folder: WebAppFolder?

    /// - Parameter path: the folder `Public/`. If it is nil or cannot be read, only the API is served, and `/` responds with 404.
    init(folder path: String?, logger: Logger) {
        do {
            folder = try path.map { try WebAppFolder($0, logger: logger) }
        } catch {
            logger.warning("\(path ?? "Public") cannot be served: \(error)")
            folder = nil
        }
    }

    var isAvailable: Bool { folder != nil }

    /// The path of the sign-up form with an invitation. The invitation is in the fragment of the URL, so that browsers do not
    /// send it and logs do not contain it.
    static func signUpPath(invitation: String) -> String { "/#/sign-up?invitation=\(invitation)" }

    func add(to routes: inout Routes) {
        let exists: @Sendable (String) -> Bool = { [folder] path in
            path == WebAppFiles.page || folder?.files[path] != nil
        }
        routes.pages(ifExists: exists, use: get)
    }

    @Sendable private func get(_ request: APIRequest) throws -> Response {
        guard let folder else { throw WebApp.notInstalled }
        guard let file = folder.files[request.parameter] else { throw WebApp.notFound }
        return WebApp.response(file, to: request)
    }

    private static let notInstalled = Problem(
        .notFound, "This server was installed without the web app (the folder Public). See /docs for all paths.")
    private static let notFound = Problem(.notFound, "The web app has no such file.")

    private static func response(_ file: WebAppFile, to request: APIRequest) -> Response {
        var headers = headers
        headers[.eTag] = file.tag.text
        if let known = request[.ifNoneMatch], file.tag.matches(known) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.contentType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.bytes))
    }

    /// The headers of all files. They contain a Content Security Policy, which browsers apply to the page, to workers, and to SVG
    /// pictures that are opened as documents.
    ///
    /// - Scripts, styles, fonts and requests must be of this origin. Inline code and `eval` are forbidden.
    /// - Pictures may also have `blob:` URLs (files that were pasted) and `data:` URLs (previews of attachments). Sound and videos
    ///   may also have `blob:` URLs.
    /// - `<base>`, frames around the app, and forms that send to other origins are forbidden. `default-src` does not cover them.
    /// - Only the Trusted Types policy `hesper` may convert a string to the URL of a script. The page uses it to register the
    ///   service worker, and the service worker uses it to import `/shell.js`.
    /// - The Trusted Types policy `hesper-paste` may convert pasted HTML to a document. This document runs no scripts and loads no
    ///   resources.
    private static let headers = BrowserDefences.page(
        policy: """
            default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; \
            frame-ancestors 'none'; form-action 'self'; require-trusted-types-for 'script'; \
            trusted-types hesper hesper-paste
            """,
        // With `no-referrer`, some requests of the app would have the `Origin` `null`. The server could not distinguish them from
        // requests of other origins.
        referrer: "same-origin")
}
