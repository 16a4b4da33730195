import Foundation
import HesperModel
import NIOSSL

extension TLSFiles {
    /// How long browsers believe what the server shows them.
    /// - Returns: the earliest end of all certificates in the chain.
    /// - Throws: what is wrong with the files, or that one is not of the other.
    public func validUntil() throws -> Timestamp {
        _ = try contents().context()
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        let end = chain.map(\.notValidAfter).min() ?? 0
        return Timestamp(clamping: Int64(end) * 1_000)
    }
}
