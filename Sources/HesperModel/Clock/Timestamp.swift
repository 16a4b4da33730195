/// A time in whole milliseconds since 1970, within the years 0001 to 9999.
///
/// A timestamp is written as RFC 3339 in UTC, with milliseconds. It is read with any offset from UTC and any fraction of a
/// second, which is rounded to milliseconds (protocol.md).
///
///     Timestamp("2026-11-21T09:47:12.3454+01:00")?.description   // "2026-11-21T08:47:12.345Z"
public struct Timestamp: Hashable, Sendable {
    public let milliseconds: Int64

    /// The range of valid milliseconds: 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    public static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Creates a timestamp; nil if the milliseconds are outside ``range``.
    public init?(milliseconds: Int64) {
        guard Timestamp.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Creates the timestamp within ``range`` that is nearest to `milliseconds`.
    public init(clamping milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Timestamp.range.lowerBound), Timestamp.range.upperBound)
    }
}

extension Timestamp: Comparable {
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: LosslessStringConvertible {
    /// Parses an RFC 3339 date-time. A fraction is rounded to the nearest millisecond; half a millisecond is rounded up.
    public init?(_ text: String) {
        var copy = text
        if let written = copy.withUTF8({ $0.count == Timestamp.textLength ? Timestamp.milliseconds(written: $0) : nil })
        {
            self.init(milliseconds: written)
            return
        }
        var scanner = DateScanner(text.utf8)
        guard let milliseconds = scanner.dateTime() else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Parses a date-time in exactly the form that ``append(to:)`` writes, as milliseconds since 1970; nil for any other form. This
    /// function is faster than ``DateScanner``, and nearly all dates and clocks have this form.
    static func milliseconds(written bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        func number(_ from: Int, _ count: Int, _ end: Unicode.Scalar) -> Int64? {
            var value: Int64 = 0
            for index in from..<from + count {
                let digit = bytes[index] &- 0x30
                guard digit < 10 else { return nil }
                value = value * 10 + Int64(digit)
            }
            return bytes[from + count] == UInt8(ascii: end) ? value : nil
        }
        guard let year = number(0, 4, "-"), let month = number(5, 2, "-"), let day = number(8, 2, "T"),
            let hour = number(11, 2, ":"), let minute = number(14, 2, ":"), let second = number(17, 2, "."),
            let fraction = number(20, 3, "Z")
        else { return nil }
        guard (1...12).contains(month), hour < 24, minute < 60, second < 60,
            (1...Calendar.daysIn(month: month, year: year)).contains(day)
        else { return nil }
        let days = Calendar.day(year: year, month: month, day: day)
        return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction
    }

    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(Timestamp.textLength)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func append(to text: inout [UInt8]) {
        let (days, milliseconds) = milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, day) = Calendar.date(ofDay: days)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Timestamp.textLength) { out in
            // The text is written from its end, because division yields the last digit of a number first.
            var index = out.endIndex
            func put(_ separator: Unicode.Scalar) {
                index -= 1
                out[index] = UInt8(ascii: separator)
            }
            func put(_ value: Int64, digits: Int) {
                var rest = UInt32(truncatingIfNeeded: value)
                for _ in 0..<digits {
                    index -= 1
                    out[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
            }
            put("Z")
            put(milliseconds % 1000, digits: 3)
            put(".")
            put(milliseconds / 1000 % 60, digits: 2)
            put(":")
            put(milliseconds / 60_000 % 60, digits: 2)
            put(":")
            put(milliseconds / 3_600_000, digits: 2)
            put("T")
            put(day, digits: 2)
            put("-")
            put(month, digits: 2)
            put("-")
            put(year, digits: 4)
            text.append(contentsOf: UnsafeBufferPointer(out))
        }
    }

    /// The length of a timestamp as text, in bytes.
    static let textLength = 24
}

/// Converts between days since 1970 and dates of the Gregorian calendar, which is also applied to earlier centuries
/// (proleptic). The formulas are from Howard Hinnant's "chrono-compatible low-level date algorithms".
enum Calendar {
    /// The number of days from 1970-01-01 to a date.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.flooredDivision(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date that is `number` days after 1970-01-01, or before it if `number` is negative.
    static func date(ofDay number: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (number + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Divides by a positive number. Returns the quotient, rounded down, and the remainder, which is never negative.
    func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
        let remainder = self % divisor
        return remainder < 0 ? (self / divisor - 1, remainder + divisor) : (self / divisor, remainder)
    }
}
