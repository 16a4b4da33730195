import Crypto
import Foundation
import NIOCore

/// One file of the web app, as it is served.
struct WebAppFile: Sendable {
    /// The body of the response, of which `tag` and `integrity` are computed.
    let bytes: ByteBuffer
    let contentType: String
    let tag: ETag
    /// For the `integrity` of a fetch (Subresource Integrity 1): `sha256-…`.
    let integrity: String

    /// - Parameters:
    ///   - source: the file's bytes. A script is served without its comments.
    ///   - ending: the part of the name after the last dot.
    /// - Returns: nil for a type of file that is not part of a web app.
    init?(_ source: [UInt8], ending: String) {
        guard let contentType = WebAppFile.contentTypes[ending] else { return nil }
        let bytes = ending == "js" ? ScriptComments.removed(from: source) ?? source : source
        self.bytes = ByteBuffer(bytes: bytes)
        self.contentType = contentType
        tag = ETag(of: bytes)
        integrity = "sha256-" + Data(SHA256.hash(data: bytes)).base64EncodedString()
    }

    /// By the ending of the name. Files with other endings are those of editors and tools, and are not served.
    static let contentTypes = [
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8",
        "png": "image/png",
        "ico": "image/x-icon",
    ]
}
