import HesperModel

/// How far a reader of a feed is: opaque to clients, who give back what the last page gave them (protocol.md, Sync).
public struct SyncToken: Sendable, Hashable {
    /// Where in its feed a reader stands.
    public enum Position: Sendable, Hashable {
        /// In a first sync, which goes down from the sequence at which it began.
        /// - Parameters:
        ///   - rows: whether tags, which come first, are done.
        ///   - below: everything from this number on was sent.
        case first(start: Int64, rows: FirstRows, below: Int64)
        /// Everything up to this sequence was sent.
        case after(Int64)
    }

    public enum FirstRows: UInt8, Sendable { case tags, others }

    public var epoch: UInt64
    public var scope: ScopeID
    /// Of the name of the selection: another set of kinds is refused.
    public var selection: UInt32
    public var position: Position
    /// What was left when the last page was made; nil once nothing was.
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

    /// All that its reader has is as it stood at this sequence or later.
    public var sequence: Int64 {
        switch position {
        case .after(let sequence): sequence
        case .first(let start, _, _): start
        }
    }

    /// FNV-1a, 32 bits: enough to tell a token of another feed by mistake.
    static func fingerprint(_ selection: Selection) -> UInt32 {
        selection.name.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}

extension SyncToken {
    private static let version: UInt8 = 1

    /// As clients see it: base64url of a few dozen bytes.
    public var text: String {
        var bytes: [UInt8] = [SyncToken.version]
        var kind: UInt8 = remaining == nil ? 0 : 1
        var numbers: [UInt64] = [epoch, UInt64(bitPattern: scope.rawValue), UInt64(selection)]
        switch position {
        case .after(let sequence): numbers.append(UInt64(bitPattern: sequence))
        case .first(let start, let rows, let below):
            kind |= rows == .tags ? 2 : 4
            numbers += [UInt64(bitPattern: start), UInt64(bitPattern: below)]
        }
        if let remaining { numbers += [UInt64(clamping: remaining.objects), UInt64(clamping: remaining.bytes)] }
        bytes.append(kind)
        for number in numbers {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        return Base64URL.encode(bytes)
    }

    /// Nil if it is not a token that ``text`` wrote.
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
