import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// A response with the bytes of an attachment, or with ranges of them (RFC 9110, 14 and 15.3.7).
struct Download: Sendable {
    private let blob: Blob
    private let attachment: Attachment?
    private let tag: ETag
    /// The ranges to send; nil for the whole content.
    private var parts: [Range<Int64>]?

    init(blob: Blob, attachment: Attachment?, tag: ETag) {
        self.blob = blob
        self.attachment = attachment
        self.tag = tag
    }

    /// Whether `If-Range` allows a partial response. Only ETags are compared, because attachments have no modification date.
    func allowsRange(ifRange: String?) -> Bool { ifRange.map { $0 == tag.text } ?? true }

    /// Sets the ranges to send.
    /// - Parameter range: the value of the header `Range`.
    mutating func select(_ range: String) throws { parts = try ByteRanges.read(range, of: blob.data.byteCount) }

    func response(from blobs: any BlobStore, isHead: Bool) async throws -> Response {
        let presentation = Presentation(attachment)
        var headers = headers(presentation)
        let sections: [Section]
        switch parts?.count {
        case nil: sections = [Section(head: nil, range: 0..<blob.data.byteCount)]
        case 1?:
            let range = parts?.first ?? 0..<0
            headers[.contentRange] = contentRange(range)
            sections = [Section(head: nil, range: range)]
        default:
            let boundary = "hesper-\(UUID().uuidString.lowercased())"
            headers[.contentType] = "multipart/byteranges; boundary=\(boundary)"
            sections = self.sections(boundary, presentation)
        }
        if parts == nil { headers[.contentDigest] = DigestFields.value(sha256: blob.data.sha256) }
        let byteCount = sections.reduce(0) { $0 + $1.byteCount }
        headers[.contentLength] = String(byteCount)
        let status: HTTPResponse.Status = parts == nil ? .ok : .partialContent
        guard !isHead else { return Response(status: status, headers: headers) }
        return Response(status: status, headers: headers, body: try await body(sections, byteCount, blobs))
    }

    private func headers(_ presentation: Presentation) -> HTTPFields {
        var headers = HTTPFields()
        headers[.contentType] = presentation.contentType
        headers[.contentDisposition] = presentation.disposition
        headers[.eTag] = tag.text
        headers[.acceptRanges] = "bytes"
        headers[.reprDigest] = DigestFields.value(sha256: blob.data.sha256)
        // The media type is unknown until a device has pushed the attachment; `application/octet-stream` is sent instead. The
        // response must not be cached, because its media type will change.
        if attachment == nil { headers[.cacheControl] = "no-store" }
        // With this policy, a browser that opens the file as a document runs no scripts and loads nothing, and the document has
        // an opaque origin.
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        return headers
    }

    // MARK: Parts

    /// A range of bytes to send. In a multipart response, `head` is the text that is sent before these bytes. In other responses,
    /// `head` is nil.
    private struct Section: Sendable {
        let head: String?
        let range: Range<Int64>

        var byteCount: Int64 { Int64(head?.utf8.count ?? 0) + range.upperBound - range.lowerBound }
    }

    private func contentRange(_ range: Range<Int64>) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(blob.data.byteCount)"
    }

    private func sections(_ boundary: String, _ presentation: Presentation) -> [Section] {
        let parts = (parts ?? []).enumerated().map { index, range in
            let start = index == 0 ? "" : "\r\n"
            return Section(
                head: "\(start)--\(boundary)\r\nContent-Type: \(presentation.contentType)\r\n"
                    + "Content-Range: \(contentRange(range))\r\n\r\n",
                range: range)
        }
        return parts + [Section(head: "\r\n--\(boundary)--\r\n", range: 0..<0)]
    }

    private func body(
        _ sections: [Section], _ byteCount: Int64, _ blobs: any BlobStore
    ) async throws -> ResponseBody {
        // Opens the blob before the response begins, so that a missing blob is still reported with an error status.
        let first = try await blobs.read(blob.name, sections.first?.range ?? 0..<0)
        let name = blob.name
        return ResponseBody(contentLength: Int(clamping: byteCount)) { writer in
            for (index, section) in sections.enumerated() {
                if let head = section.head { try await writer.write(ByteBuffer(string: head)) }
                var missing = section.range.upperBound - section.range.lowerBound
                guard missing > 0 else { continue }
                for try await chunk in index == 0 ? first : try await blobs.read(name, section.range) {
                    missing -= Int64(chunk.readableBytes)
                    try await writer.write(chunk)
                }
                // If the blob ends too early, an error is thrown to close the connection. Otherwise clients would mistake a part
                // of the file for the complete file.
                guard missing == 0 else { throw BlobMissing(name) }
            }
            try await writer.finish(nil)
        }
    }
}
