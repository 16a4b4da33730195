import HesperModel
import HesperStore

/// The conversion of a search position into a cursor and back.
extension SearchPosition {
    /// How many integers a cursor contains if its position is after a note (``behind(sortDate:note:)``).
    static let numbers = 5

    /// The cursor for this position. For results ordered by relevance, the cursor contains the number of matches before the
    /// position. For results ordered by date, it contains five numbers: the sort date of the note before the position, and the ID
    /// of this note as four numbers of 32 bits. The sort date is counted from the earliest possible date, so that it is not
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

    /// Converts the five numbers of a ``cursor`` back into the position after a note. Nil if the numbers are not a sort date and an
    /// ID.
    init?(_ numbers: [Int64]) {
        let (since, overflows) = numbers[0].addingReportingOverflow(Timestamp.range.lowerBound)
        let parts = numbers.dropFirst().compactMap { UInt32(exactly: $0) }.map { UInt64($0) }
        guard !overflows, let sortDate = Timestamp(milliseconds: since), parts.count == 4 else { return nil }
        let note = UniqueID(high: parts[0] << 32 | parts[1], low: parts[2] << 32 | parts[3])
        self = .behind(sortDate: sortDate, note: note)
    }
}
