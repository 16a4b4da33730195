import Crypto
import HesperModel
import NIOCore

extension APIRequest {
    /// Reads the fields of a note. The body can be JSON, plain text, or an HTML form. Plain text is the text of the note. The form
    /// has the field `text`, and the field `tagNames` with the names of tags, separated by commas.
    /// - Parameter limit: the maximum size in bytes, after decompression.
    /// - Returns: the fields as a JSON object, and the SHA-256 of the body.
    func noteFields(limit: Int) async throws -> (json: JSON, sha256: [UInt8]) {
        switch mediaType {
        case "text/plain"?:
            let (text, hash) = try await hashedText(limit: limit)
            return (["text": .string(text)], hash)
        case "application/x-www-form-urlencoded"?:
            let (text, hash) = try await hashedText(limit: limit)
            let form = try Query(text, known: ["text", "tagNames"])
            var fields: [(String, JSON)] = [("text", .string(form["text"] ?? ""))]
            if let names = form["tagNames"] {
                let list = names.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
                fields.append(("tagNames", .array(list.map { .string(String($0)) })))
            }
            return (.object(JSONObject(fields)), hash)
        default: return try await hashedJSON(limit: limit)
        }
    }

    /// The body as text, which must be UTF-8, and its SHA-256.
    private func hashedText(limit: Int) async throws -> (text: String, sha256: [UInt8]) {
        let body = try await body(limit: limit)
        return try body.withUnsafeReadableBytes { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Problem(.malformedRequest, "The body is not valid UTF-8.")
            }
            return (text, Array(SHA256.hash(data: bytes)))
        }
    }
}
