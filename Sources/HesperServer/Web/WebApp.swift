import HTTPTypes
import HesperModel
import Hummingbird
import Logging

/// The web app: the files of `Public/` at the root, scripts without comments; and `/shell.js`, which lists them.
struct WebApp: Resource {
    private let folder: WebAppFolder?

    /// - Parameter path: the folder `Public/`; without it the API works, and `/` responds with 404.
    init(folder path: String?, logger: Logger) {
        do {
            folder = try path.map { try WebAppFolder($0, logger: logger) }
        } catch {
            logger.warning("\(path ?? "Public") cannot be served: \(error)")
            folder = nil
        }
    }

    var isAvailable: Bool { folder != nil }

    /// The address of the sign-up form. The invitation is in the fragment, which browsers do not send and logs do not contain.
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
        .notFound, "This server was installed without the web app, the folder Public. See /docs for all paths.")
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

    /// The headers of every file: a worker and an SVG picture are documents too.
    ///
    /// Scripts, styles, fonts and requests are limited to this origin, without inline code and `eval`. Pictures may also be
    /// `blob:` (files that were pasted) and `data:` (previews of attachments). A string becomes the address of a script only
    /// through the policy `hesper` (Trusted Types), which the page needs to register the worker and the worker to import
    /// `/shell.js`. What `default-src` does not cover is forbidden: the base of links, frames of other origins around the app,
    /// forms to other origins.
    private static let headers = BrowserDefences.page(
        policy: """
            default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; \
            form-action 'self'; require-trusted-types-for 'script'; trusted-types hesper
            """,
        // Not no-referrer: then some requests of the app would have the Origin null, like those of other origins.
        referrer: "same-origin")
}
