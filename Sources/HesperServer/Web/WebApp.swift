import HTTPTypes
import HesperModel
import Hummingbird
import Logging

/// The web app: the files of `Public/` as they are, at the root; and `/shell.js`, which lists them.
struct WebApp: Resource {
    private let folder: WebAppFolder?

    /// - Parameter path: the folder `Public/`; without it the API works, and `/` is 404.
    init(folder path: String?, logger: Logger) {
        do {
            folder = try path.map { try WebAppFolder($0, logger: logger) }
        } catch {
            logger.warning("\(path ?? "Public") cannot be served: \(error)")
            folder = nil
        }
    }

    var isThere: Bool { folder != nil }

    /// Where it makes an account. The secret stands in what no browser sends and no log keeps.
    static func signUpPath(invitation: String) -> String { "/#/sign-up?invitation=\(invitation)" }

    func add(to routes: inout Routes) {
        let isThere: @Sendable (String) -> Bool = { [folder] path in
            path == WebAppFiles.page || folder?.files[path] != nil
        }
        routes.pages(ifThere: isThere, use: get)
    }

    @Sendable private func get(_ call: Call) throws -> Response {
        guard let folder else { throw WebApp.missing }
        guard let file = folder.files[call.parameter] else { throw WebApp.gone }
        return WebApp.response(file, to: call)
    }

    private static let missing = Problem(
        .notFound, "This server was installed without the web app, the folder Public. /docs lists what there is.")
    private static let gone = Problem(.notFound, "The web app has no such file.")

    private static func response(_ file: WebAppFile, to call: Call) -> Response {
        var headers = headers
        headers[.eTag] = file.tag.text
        if let known = call[.ifNoneMatch], file.tag.isIn(known) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.contentType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: file.bytes))
    }

    /// Of every file: a worker and a picture in SVG are documents too.
    ///
    /// Scripts, styles, fonts and calls are our own files and paths alone, nothing inline and no `eval`. Pictures are also made
    /// here (`blob:`, of what was pasted and is not sent yet) and come with a note (`data:`, its previews). A text becomes the
    /// address of a script only through the one policy `hesper` (Trusted Types), which the page needs to register the worker and the
    /// worker to import `/shell.js`. What `default-src` does not cover is shut: the base of links, frames of others around us,
    /// forms that lead elsewhere.
    private static let headers = BrowserDefences.page(
        policy: """
            default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; \
            form-action 'self'; require-trusted-types-for 'script'; trusted-types hesper
            """,
        // Not no-referrer: with that some requests of ours would have the Origin null, and look like a stranger's.
        referrer: "same-origin")
}
