import Crypto
import Foundation
import NIOCore

/// One file of the web app, in the form in which it is served.
struct WebAppFile: Sendable {
    /// The body of the response. `tag` and `integrity` are computed from these bytes.
    let bytes: ByteBuffer
    let contentType: String
    let tag: ETag
    /// The value for the `integrity` option of a fetch (Subresource Integrity): `sha256-` and the Base64 of the SHA-256.
    let integrity: String

    /// - Parameters:
    ///   - source: the file's bytes. A script is served without its comments.
    ///   - ending: the part of the file name after the last dot.
    /// - Returns: nil if files with this ending are not served.
    init?(_ source: [UInt8], ending: String) {
        guard let contentType = WebAppFile.contentTypes[ending] else { return nil }
        let bytes = ending == "js" ? ScriptComments.removed(from: source) ?? source : source
        self.bytes = ByteBuffer(bytes: bytes)
        self.contentType = contentType
        tag = ETag(of: bytes)
        integrity = "sha256-" + Data(SHA256.hash(data: bytes)).base64EncodedString()
    }

    /// The media types of the files that are served, by the ending of the file name. Other files in the folder belong to editors
    /// and tools, and are not served.
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
