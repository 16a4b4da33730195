import Foundation
import HesperModel

/// How an attachment is presented to a browser that opens its URL. A file is shown inline if browsers run no code in files of its
/// type. All other files are downloaded, so that no HTML, SVG or PDF of a user runs in the server's origin (protocol.md,
/// Attachments).
struct Presentation: Sendable {
    let contentType: String
    /// The value of `Content-Disposition` (RFC 6266).
    let disposition: String

    /// The media types that are shown inline, because browsers run no code in them.
    private static let shown: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/heif", "image/bmp",
        "image/tiff", "image/x-icon", "image/jxl", "audio/mpeg", "audio/mp4", "audio/aac", "audio/ogg", "audio/opus",
        "audio/wav", "audio/webm", "audio/flac", "audio/x-m4a", "video/mp4", "video/webm", "video/ogg",
        "video/quicktime", "text/plain",
    ]

    /// - Parameter attachment: the attachment's metadata; nil if the bytes were uploaded before the attachment was created.
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

    /// The value of `Content-Disposition`, with the file name in ASCII for old browsers and in UTF-8 for all others (RFC 8187).
    private static func disposition(_ kind: String, _ name: String) -> String {
        // Keeps only the last component if the name is a path.
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? "attachment"
        let isPlain: (UnicodeScalar) -> Bool = { (0x20...0x7e).contains($0.value) && $0 != "\"" && $0 != "%" }
        let plain = String(String.UnicodeScalarView(last.unicodeScalars.map { isPlain($0) ? $0 : "_" }))
        guard plain != last else { return "\(kind); filename=\"\(plain)\"" }
        let encoded =
            last.addingPercentEncoding(withAllowedCharacters: Presentation.attributeCharacters) ?? "attachment"
        return "\(kind); filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
    }

    /// The characters that need no percent-encoding (`attr-char` in RFC 8187).
    private static let attributeCharacters = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`|~")
}
