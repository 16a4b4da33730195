import Crypto
import Foundation
import HesperModel
import NIOHTTP1

/// Signs requests with Signature Version 4 (AWS documentation, Authenticating Requests: Using the Authorization Header). The
/// signature covers the body, so that S3 detects corruption in transit.
struct S3Signer: Sendable {
    let credentials: S3Credentials
    let region: String

    /// Returns the headers of a request, including the headers for authentication. The signature covers all headers.
    func headers(_ request: S3Request, host: String, path: String, at date: Timestamp) -> HTTPHeaders {
        let stamp = S3Signer.stamp(date)
        let scope = "\(stamp.prefix(8))/\(region)/s3/aws4_request"
        let payloadHash = request.payloadHash
        var headers = request.headers
        headers.replaceOrAdd(name: "Host", value: host)
        headers.replaceOrAdd(name: "x-amz-content-sha256", value: payloadHash)
        headers.replaceOrAdd(name: "x-amz-date", value: stamp)
        if let token = credentials.sessionToken { headers.replaceOrAdd(name: "x-amz-security-token", value: token) }
        let signed = headers.map { (name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let canonical = [
            request.method.rawValue, path, request.canonicalQuery,
            signed.map { "\($0.name):\($0.value.trimmingCharacters(in: .whitespaces))\n" }.joined(), names, payloadHash,
        ].joined(separator: "\n")
        let digest = SHA256.hash(data: Array(canonical.utf8)).hex
        let signature = sign(["AWS4-HMAC-SHA256", stamp, scope, digest].joined(separator: "\n"), scope: scope)
        headers.replaceOrAdd(
            name: "Authorization",
            value: "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
                + "Signature=\(signature)")
        return headers
    }

    /// Signs a text with a key that is derived for one day, region and service.
    private func sign(_ text: String, scope: String) -> String {
        let secret = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey)".utf8))
        let key = scope.split(separator: "/").reduce(secret) { key, part in
            SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
        }
        return HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).hex
    }

    /// Formats a date as S3 requires, such as `20130524T000000Z`.
    private static func stamp(_ date: Timestamp) -> String {
        date.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }
}
