import HesperModel

/// The name of a blob. It consists of the scope, the attachment, and a random nonce, so that no two uploads write to the same
/// name.
///
/// The text form is a path in a folder or a bucket. It contains the attachment's ID, so that an operator can find the attachment.
///
///     12/3f/3f2a1c04-77de-4c1b-9a55-0c6a6f1be0d2.9f86d081884c7d65
public struct BlobName: Sendable, Hashable {
    public let scope: ScopeID
    public let attachment: UniqueID
    public let nonce: UInt64

    public init(scope: ScopeID, attachment: UniqueID, nonce: UInt64 = .random(in: .min ... .max)) {
        self.scope = scope
        self.attachment = attachment
        self.nonce = nonce
    }

    /// Parses a ``path``; nil if the text is not the path of a blob.
    public init?(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let scope = Int64(parts[0]) else { return nil }
        let halves = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count == 2, let attachment = UniqueID(String(halves[0])), let nonce = UInt64(halves[1], radix: 16)
        else { return nil }
        self.init(scope: ScopeID(scope), attachment: attachment, nonce: nonce)
        guard self.path == path else { return nil }
    }

    /// The path of the blob, relative to the attachments folder or to the prefix in the bucket. The two hex digits in the middle
    /// limit the number of entries per folder.
    public var path: String {
        let id = attachment.description
        let digits = String(nonce, radix: 16)
        return "\(scope.rawValue)/\(id.prefix(2))/\(id).\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}

extension BlobName: CustomStringConvertible {
    public var description: String { path }
}
