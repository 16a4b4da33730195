import HesperModel

/// The position of a reader in a feed. Tokens are opaque to clients. A client sends back the token of the page that it received
/// most recently (protocol.md, Sync).
public struct SyncToken: Sendable, Hashable {
    /// A position in a feed.
    public enum Position: Sendable, Hashable {
        /// A position in a first sync, which reads in descending order of sequence numbers.
        /// - Parameters:
        ///   - start: the scope's sequence number when the first sync began.
        ///   - rows: the rows that are being read. Tags are read before all other rows.
        ///   - below: rows with this sequence number or a higher one have already been sent.
        case first(start: Int64, rows: FirstRows, below: Int64)
        /// A position after a first sync: all changes up to this sequence number have been sent.
        case after(Int64)
    }

    public enum FirstRows: UInt8, Sendable { case tags, others }

    public var epoch: UInt64
    public var scope: ScopeID
    /// The fingerprint of the feed's selection. A token is valid only for feeds with the same selection.
    public var selection: UInt32
    public var position: Position
    /// The count and the total size of the objects that follow the page sent most recently; nil if no objects follow or if they
    /// have not been counted.
    public var remaining: ScanSize?

    public init(
        epoch: UInt64, scope: ScopeID, selection: Selection, position: Position, remaining: ScanSize? = nil
    ) {
        self.epoch = epoch
        self.scope = scope
        self.selection = SyncToken.fingerprint(selection)
        self.position = position
        self.remaining = remaining
    }

    /// The sequence number of the state that the reader has. Each object that the reader has received is in the state that it had
    /// at this sequence number, or in a later state.
    public var sequence: Int64 {
        switch position {
        case .after(let sequence): sequence
        case .first(let start, _, _): start
        }
    }

    /// A 32-bit FNV-1a hash of the selection's name. It detects the accidental use of another feed's token.
    static func fingerprint(_ selection: Selection) -> UInt32 {
        selection.name.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}

extension SyncToken {
    private static let version: UInt8 = 1

    /// The text that clients receive, a few dozen bytes in base64url.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        func append(_ number: UInt64) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        bytes.append(SyncToken.version)
        let kind: UInt8 =
            switch position {
            case .after: 0
            case .first(_, .tags, _): 2
            case .first(_, .others, _): 4
            }
        bytes.append(remaining == nil ? kind : kind | 1)
        append(epoch)
        append(UInt64(bitPattern: scope.rawValue))
        append(UInt64(selection))
        switch position {
        case .after(let sequence): append(UInt64(bitPattern: sequence))
        case .first(let start, _, let below):
            append(UInt64(bitPattern: start))
            append(UInt64(bitPattern: below))
        }
        if let remaining {
            append(UInt64(clamping: remaining.objects))
            append(UInt64(clamping: remaining.bytes))
        }
        return Base64URL.encode(bytes)
    }

    /// Parses a token's ``text``; nil if the text is not a valid token.
    public init?(_ text: String) {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text), bytes.count >= 2, (bytes.count - 2) % 8 == 0,
            bytes[0] == SyncToken.version
        else { return nil }
        var numbers = stride(from: 2, to: bytes.count, by: 8).map { start in
            var number: UInt64 = 0
            for byte in bytes[start..<start + 8] { number = number << 8 | UInt64(byte) }
            return number
        }[...]
        let kind = bytes[1]
        let isFirst = kind & 6 != 0
        guard kind < 6, numbers.count == 3 + (isFirst ? 2 : 1) + (kind & 1 == 1 ? 2 : 0), numbers[2] <= UInt32.max
        else { return nil }
        func next() -> UInt64 { numbers.removeFirst() }
        epoch = next()
        scope = ScopeID(Int64(bitPattern: next()))
        selection = UInt32(truncatingIfNeeded: next())
        if isFirst {
            let start = Int64(bitPattern: next())
            let below = Int64(bitPattern: next())
            guard start >= 0, below >= 0, below - 1 <= start else { return nil }
            position = .first(start: start, rows: kind & 2 != 0 ? .tags : .others, below: below)
        } else {
            position = .after(Int64(bitPattern: next()))
        }
        remaining = kind & 1 == 1 ? ScanSize(objects: Int(clamping: next()), bytes: Int(clamping: next())) : nil
        if case .after(let sequence) = position, sequence < 0 { return nil }
    }
}
