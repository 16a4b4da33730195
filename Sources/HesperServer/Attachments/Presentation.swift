import Foundation
import HesperModel

/// How bytes of an attachment are presented to a browser that is sent to them: what it can only show is shown, all else is
/// saved as a file, so that no HTML, SVG or PDF of somebody's ever runs in our origin (protocol.md, Attachments).
struct Presentation: Sendable {
    let contentType: String
    /// `Content-Disposition` (RFC 6266).
    let disposition: String

    /// Types of which a browser runs nothing.
    private static let shown: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif", "image/bmp",
        "image/tiff", "image/x-icon", "image/jxl", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/opus",
        "audio/wav", "audio/webm", "audio/flac", "audio/x-m4a", "video/mp4", "video/webm", "video/ogg",
        "video/quicktime", "text/plain",
    ]

    /// - Parameter attachment: nil while the bytes have none yet.
    init(_ attachment: Attachment?) {
        var type = ""
        if case .string(let mimeType)? = attachment?[.mimeType] { type = mimeType }
        let essence = type.prefix { $0 != ";" }.trimmed.lowercased()
        let isShown = Presentation.shown.contains(essence)
        contentType = isShown ? essence : "application/octet-stream"
        var name = attachment?.uniqueID.description ?? "attachment"
        if case .string(let filename)? = attachment?[.filename] { name = filename }
        disposition = Presentation.disposition(isShown ? "inline" : "attachment", name)
    }

    /// The name in ASCII for the oldest, as it is for all others (RFC 8187).
    private static func disposition(_ kind: String, _ name: String) -> String {
        // A path is none of a browser's business.
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? "attachment"
        let isPlain: (UnicodeScalar) -> Bool = { (0x20...0x7e).contains($0.value) && $0 != "\"" && $0 != "%" }
        let plain = String(String.UnicodeScalarView(last.unicodeScalars.map { isPlain($0) ? $0 : "_" }))
        guard plain != last else { return "\(kind); filename=\"\(plain)\"" }
        let encoded =
            last.addingPercentEncoding(withAllowedCharacters: Presentation.attributeCharacters) ?? "attachment"
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
    }

    /// `attr-char` of RFC 8187.
    private static let attributeCharacters = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~")
}
