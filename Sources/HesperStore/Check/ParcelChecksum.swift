import CZlib
import HesperModel

/// The checksum of a row of the table `edits`. It is the CRC-32 of the row's columns in the order of ``columns``, plus one if the
/// column `has_lost_words` is true.
///
/// The checksum covers every column except `number`, which SQLite assigns when the row is inserted. Both databases store the same
/// checksum, so a checksum remains valid when its row moves from one database to the other.
///
/// A statement that changes a row adds the difference between the new and the old checksum to the stored checksum. If the row was
/// damaged before, the stored checksum remains wrong, and the damage is still detected.
public struct ParcelChecksum {
    /// A list for an SQL statement: the columns from which the checksum is calculated, and the column `checksum`.
    public static let columns = "\(oldColumns), text_name"
    /// ``columns`` for tables without the column `text_name`, as in the first version with checksums.
    public static let columnsOfVersion8 = "\(oldColumns), NULL"
    private static let oldColumns = """
        type, is_servers, text_origin, body, object, first_clock, last_clock, text_clock, scope, sequence, pushed_by, pushed_at,
        missing_ancestors, has_lost_words, checksum
        """
    /// The amount that is added to the checksum when `has_lost_words` is set. Because the amount is constant, a statement can
    /// update the checksum without reading the row.
    public static let lostWords: Int64 = 1

    private var crc: UInt = 0

    /// The checksum of a row that will be inserted.
    /// - Parameter body: the row's body, as encoded by ``ParcelBody``.
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
        // A null `text_name` is not added, so that the row has the same checksum as in versions without this column.
        if let name = parcel.text?.textName { sum.add(Array(name.utf8)) }
        return Int64(sum.crc) + (numbered.hasLostWords ? lostWords : 0)
    }

    /// The checksum calculated from a row that was selected with ``columns``.
    /// - Parameter body: a body to use instead of the row's body; nil to use the row's body.
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
        if !row.isNull(15) { sum.add(column: 15, of: row) }
        return Int64(sum.crc) + (row.bool(13) ? lostWords : 0)
    }

    // MARK: Input

    private mutating func add(_ value: Int64) { withUnsafeBytes(of: value.bigEndian) { add($0) } }

    private mutating func add(_ bytes: [UInt8]?) {
        if let bytes { bytes.withUnsafeBytes { add(length: $0.count, $0) } } else { add(length: -1, nil) }
    }

    private mutating func add(column: Int32, of row: some StoredRow) {
        if row.isNull(column) { return add(length: -1, nil) }
        let bytes = row.bytes(column)
        add(length: bytes.count, bytes)
    }

    /// Adds the length of a column's value, and then its bytes. Because of the length, the checksum changes if bytes move from one
    /// column to the next. The length of null is -1.
    private mutating func add(length: Int, _ bytes: UnsafeRawBufferPointer?) {
        add(Int64(length))
        if let bytes { add(bytes) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address. For a null pointer, zlib would return the initial CRC instead of the current one.
        guard let start = bytes.baseAddress else { return }
        crc = UInt(crc32_z(uLong(crc), start.assumingMemoryBound(to: Bytef.self), bytes.count))
    }
}

extension StoredRow {
    /// The checksum calculated from a row that was selected with ``ParcelChecksum/columns``.
    public func parcelChecksum() -> Int64 { ParcelChecksum.of(self) }

    /// The checksum to store with a row when its body is replaced with `body`. The row must have been selected with
    /// ``ParcelChecksum/columns``. If the stored checksum is wrong, the new checksum is also wrong, so that the damage is still
    /// detected.
    public func parcelChecksum(with body: [UInt8]) -> Int64 {
        ParcelChecksum.of(self, body: body) &+ (integer(14) &- ParcelChecksum.of(self))
    }
}
