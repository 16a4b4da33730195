import HesperModel
import HesperStore

/// The cursor of a search.
extension SearchPosition {
    /// The number of numbers in the cursor for a position after a note.
    static let numbers = 5

    /// The cursor for this position. A date, counted from the minimum, and an ID, 32 bits per number, so that no number is
    /// negative.
    var cursor: Cursor {
        switch self {
        case .past(let count): return Cursor(Int64(count))
        case .behind(let sortDate, let note):
            let parts = [note.high >> 32, note.high & 0xFFFF_FFFF, note.low >> 32, note.low & 0xFFFF_FFFF]
            var cursor = Cursor(sortDate.milliseconds - Timestamp.range.lowerBound)
            cursor.numbers += parts.map { Int64($0) }
            return cursor
        }
    }

    /// Nil if these are not the numbers of a ``cursor`` after a note.
    init?(_ numbers: [Int64]) {
        let (since, overflows) = numbers[0].addingReportingOverflow(Timestamp.range.lowerBound)
        let parts = numbers.dropFirst().compactMap { UInt32(exactly: $0) }.map { UInt64($0) }
        guard !overflows, let sortDate = Timestamp(milliseconds: since), parts.count == 4 else { return nil }
        let note = UniqueID(high: parts[0] << 32 | parts[1], low: parts[2] << 32 | parts[3])
        self = .behind(sortDate: sortDate, note: note)
    }
}
