import CZlib
import HesperModel

/// The checksum of a row of `edits`: the CRC-32 of its columns in the order of ``columns``, plus one if its text has lost words.
///
/// It covers every column but `number`, which SQLite gives out only when the row is inserted and which it keeps in
/// order itself. Both databases keep the same checksum, so a row that moves from one to the other keeps it too.
///
/// A statement that changes a row adds the difference to the checksum that is stored, so that damage which was there
/// before the change is still found afterwards.
public struct ParcelChecksum {
    /// What a checksum is calculated from, as a statement selects it; `checksum` itself is last.
    public static let columns = """
        type, is_servers, text_origin, body, object, first_clock, last_clock, text_clock, scope, sequence, pushed_by, pushed_at,
        missing_ancestors, has_lost_words, checksum
        """
    /// How much the checksum grows when a text comes to have lost words: a statement does that without reading the row.
    public static let lostWords: Int64 = 1

    private var crc: UInt = 0

    /// The checksum of a row that is about to be inserted.
    /// - Parameter body: of the row: ``ParcelBody``.
    public static func of(
        _ numbered: RowChanges.NumberedParcel, body: [UInt8], in scope: ScopeID, by device: NodeID?, at date: Timestamp
    ) -> Int64 {
        let parcel = numbered.parcel
        var sum = ParcelChecksum()
        sum.add(parcel.objectType.map { Array($0.name.utf8) })
        sum.add(parcel.isServerMade ? 1 : 0)
        sum.add(parcel.textOrigin?.bytes)
        sum.add(body)
        sum.add(parcel.object.bytes)
        sum.add(parcel.firstClock?.bytes)
        sum.add(parcel.lastClock?.bytes)
        sum.add(parcel.textClock?.bytes)
        sum.add(scope.rawValue)
        sum.add(numbered.sequence)
        sum.add((parcel.isRescue ? nil : device).map { withUnsafeBytes(of: $0.rawValue.bigEndian, Array.init) })
        sum.add(date.milliseconds)
        sum.add(numbered.missingAncestors)
        return Int64(sum.crc) + (numbered.hasLostWords ? lostWords : 0)
    }

    /// The checksum that a row with the ``columns`` should have.
    /// - Parameter body: the body, if it is to be another than the row's.
    fileprivate static func of(_ row: some StoredRow, body: [UInt8]? = nil) -> Int64 {
        var sum = ParcelChecksum()
        sum.add(column: 0, of: row)
        sum.add(row.integer(1))
        sum.add(column: 2, of: row)
        if let body { sum.add(body) } else { sum.add(column: 3, of: row) }
        for column: Int32 in 4...7 { sum.add(column: column, of: row) }
        sum.add(row.integer(8))
        sum.add(row.integer(9))
        sum.add(column: 10, of: row)
        sum.add(row.timestamp(11).milliseconds)
        sum.add(column: 12, of: row)
        return Int64(sum.crc) + (row.bool(13) ? lostWords : 0)
    }

    // MARK: What goes in

    private mutating func add(_ value: Int64) { withUnsafeBytes(of: value.bigEndian) { add($0) } }

    private mutating func add(_ bytes: [UInt8]?) {
        if let bytes { bytes.withUnsafeBytes { add(length: $0.count, $0) } } else { add(length: -1, nil) }
    }

    private mutating func add(column: Int32, of row: some StoredRow) {
        if row.isNull(column) { return add(length: -1, nil) }
        let bytes = row.bytes(column)
        add(length: bytes.count, bytes)
    }

    /// A length before the bytes, so that no byte can pass from one column to the next; -1 for null.
    private mutating func add(length: Int, _ bytes: UnsafeRawBufferPointer?) {
        add(Int64(length))
        if let bytes { add(bytes) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // zlib takes a missing buffer for a request of the first value.
        guard let start = bytes.baseAddress else { return }
        crc = UInt(crc32_z(uLong(crc), start.assumingMemoryBound(to: Bytef.self), bytes.count))
    }
}

extension StoredRow {
    /// The checksum that a row with ``ParcelChecksum/columns`` should have.
    public func parcelChecksum() -> Int64 { ParcelChecksum.of(self) }

    /// The checksum for a row with ``ParcelChecksum/columns`` that gets another body: off by as much as the one that
    /// it has now.
    public func parcelChecksum(with body: [UInt8]) -> Int64 {
        ParcelChecksum.of(self, body: body) &+ (integer(14) &- ParcelChecksum.of(self))
    }
}
