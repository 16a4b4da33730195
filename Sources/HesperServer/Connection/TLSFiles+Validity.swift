import Foundation
import HesperModel
import NIOSSL

extension TLSFiles {
    /// The time until which the certificate is valid.
    /// - Returns: the earliest expiry of all certificates in the chain.
    /// - Throws: an error if the files are invalid, or the key does not match the certificate.
    public func validUntil() throws -> Timestamp {
        _ = try contents().context()
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        let end = chain.map(\.notValidAfter).min() ?? 0
        return Timestamp(clamping: Int64(end) * 1_000)
    }
}
