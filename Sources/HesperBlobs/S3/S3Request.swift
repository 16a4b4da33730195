import Crypto
import NIOCore
import NIOHTTP1

/// An unsigned request to a bucket.
struct S3Request: Sendable {
    let method: HTTPMethod
    /// The key of the object; nil for a request to the bucket itself.
    let key: String?
    var query: [(name: String, value: String)] = []
    var headers: HTTPHeaders = [:]
    var body: ByteBuffer?

    init(
        _ method: HTTPMethod, _ key: String? = nil, query: [(name: String, value: String)] = [],
        headers: HTTPHeaders = [:], body: ByteBuffer? = nil
    ) {
        self.method = method
        self.key = key
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The SHA-256 hash of the request's body, in hexadecimal.
    var payloadHash: String {
        guard let body else { return SHA256.hash(data: [UInt8]()).hex }
        return body.withUnsafeReadableBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return hash.finalize().hex
        }
    }

    /// The query string in the order and encoding that Signature Version 4 requires. The URL of the request contains the query
    /// string in the same form.
    var canonicalQuery: String {
        query.map { (S3Request.encode($0.name), S3Request.encode($0.value)) }
            .sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }
            .joined(separator: "&")
    }

    /// Percent-encodes all characters except the unreserved characters of RFC 3986. If `keepingSlashes` is true, slashes are not
    /// encoded either.
    static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "/") where keepingSlashes: encoded += "/"
            default: encoded += "%" + CollectionOfOne(byte).hex.uppercased()
            }
        }
        return encoded
    }
}

extension S3Location {
    /// The host, path and URL of a request. The host and the path are part of the signature.
    func target(of request: S3Request) -> (host: String, path: String, url: String) {
        let host = endpoint.authority(bucket: isPathStyle ? nil : bucket)
        var path = endpoint.path + (isPathStyle ? "/\(bucket)" : "")
        if let key = request.key {
            path += "/" + S3Request.encode(key, keepingSlashes: true)
        } else if path.isEmpty || !isPathStyle {
            path += "/"
        }
        let query = request.canonicalQuery
        return (host, path, "\(endpoint.scheme)://\(host)\(path)\(query.isEmpty ? "" : "?\(query)")")
    }
}
