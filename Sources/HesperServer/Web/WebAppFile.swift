import Crypto
import Foundation
import NIOCore

/// One file of the web app, as it is served.
struct WebAppFile: Sendable {
    let bytes: ByteBuffer
    let contentType: String
    let tag: ETag
    /// As the `integrity` of a fetch has it (Subresource Integrity 1): `sha256-…`.
    let integrity: String

    /// - Parameter ending: what stands after the last dot of the name.
    /// - Returns: nil for a kind of file that the web app does not consist of.
    init?(_ bytes: [UInt8], ending: String) {
        guard let contentType = WebAppFile.contentTypes[ending] else { return nil }
        self.bytes = ByteBuffer(bytes: bytes)
        self.contentType = contentType
        tag = ETag(of: bytes)
        integrity = "sha256-" + Data(SHA256.hash(data: bytes)).base64EncodedString()
    }

    /// By the ending of the name. What has another is an editor's or a tool's, and is not served.
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
