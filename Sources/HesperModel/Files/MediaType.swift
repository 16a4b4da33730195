/// Properties of media types: file extensions, and whether data of the type should be compressed.
package enum MediaType {
    package static let endings: [String: String] = [
        "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "image/heic": "heic",
        "image/heif": "heif", "image/avif": "avif", "image/svg+xml": "svg", "image/tiff": "tiff", "image/bmp": "bmp",
        "application/pdf": "pdf", "application/zip": "zip", "application/gzip": "gz", "application/json": "json",
        "application/epub+zip": "epub", "application/rtf": "rtf", "application/xml": "xml",
        "application/msword": "doc", "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
        "application/vnd.oasis.opendocument.text": "odt", "application/vnd.oasis.opendocument.spreadsheet": "ods",
        "text/plain": "txt", "text/markdown": "md", "text/html": "html", "text/css": "css", "text/csv": "csv",
        "text/calendar": "ics", "text/vcard": "vcf", "text/xml": "xml",
        "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/aac": "aac", "audio/ogg": "ogg", "audio/flac": "flac",
        "audio/wav": "wav", "audio/x-wav": "wav", "audio/webm": "weba", "audio/x-m4a": "m4a",
        "video/mp4": "mp4", "video/quicktime": "mov", "video/webm": "webm", "video/x-matroska": "mkv",
    ]

    /// The media type of a file by its extension; `application/octet-stream` if it is unknown.
    package static func of(_ filename: String) -> String {
        guard let dot = filename.lastIndex(of: ".") else { return unknown }
        return types[filename[filename.index(after: dot)...].lowercased()] ?? unknown
    }

    package static let unknown = "application/octet-stream"
    private static let types: [String: String] = {
        // If several types have the same extension, the first type in alphabetical order is used, so that the result is always the
        // same.
        var types = Dictionary(endings.map { ($1, $0) }) { min($0, $1) }
        for (ending, type) in ["jpeg": "image/jpeg", "tif": "image/tiff", "htm": "text/html", "3gp": "video/3gpp"] {
            types[ending] = type
        }
        return types
    }()

    /// Whether data of a media type should be compressed in the archive. Most types, such as images and videos, are already
    /// compressed.
    package static func isWorthDeflating(_ type: String?) -> Bool {
        guard let type = type?.lowercased() else { return false }
        if type.hasPrefix("text/") || type.hasSuffix("+xml") || type.hasSuffix("+json") { return true }
        return deflated.contains(type)
    }

    private static let deflated: Set<String> = [
        "application/json", "application/xml", "application/rtf", "application/msword", "application/javascript",
        "application/vnd.ms-excel", "application/vnd.ms-powerpoint", "image/bmp", "image/tiff", "audio/wav",
        "audio/x-wav",
    ]
}
