/// A moment, in whole milliseconds since 1970, within the years 0001 to 9999.
///
/// Written as RFC 3339 in UTC with milliseconds, read with any offset and fraction and rounded (protocol.md).
///
///     Timestamp("2026-11-21T09:47:12.3454+01:00")?.description   // "2026-11-21T08:47:12.345Z"
public struct Timestamp: Hashable, Sendable {
    public let milliseconds: Int64

    /// The range of what can be written: 0001-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    public static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Nil outside ``range``.
    public init?(milliseconds: Int64) {
        guard Timestamp.range.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// The nearest moment within ``range``.
    public init(clamping milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Timestamp.range.lowerBound), Timestamp.range.upperBound)
    }
}

extension Timestamp: Comparable {
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: LosslessStringConvertible {
    /// Reads an RFC 3339 date-time; a fraction is rounded to the nearest millisecond, halves up.
    public init?(_ text: String) {
        var scanner = DateScanner(text.utf8)
        guard let milliseconds = scanner.dateTime() else { return nil }
        self.init(milliseconds: milliseconds)
    }

    public var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func append(to text: inout [UInt8]) {
        let (days, milliseconds) = milliseconds.flooredDivision(by: 86_400_000)
        let (year, month, day) = Calendar.date(ofDay: days)
        func digits(_ value: Int64, _ count: Int) {
            var divisor: Int64 = 1
            for _ in 1..<count { divisor *= 10 }
            while divisor > 0 {
                text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
                divisor /= 10
            }
        }
        digits(year, 4)
        text.append(UInt8(ascii: "-"))
        digits(month, 2)
        text.append(UInt8(ascii: "-"))
        digits(day, 2)
        text.append(UInt8(ascii: "T"))
        digits(milliseconds / 3_600_000, 2)
        text.append(UInt8(ascii: ":"))
        digits(milliseconds / 60_000 % 60, 2)
        text.append(UInt8(ascii: ":"))
        digits(milliseconds / 1000 % 60, 2)
        text.append(UInt8(ascii: "."))
        digits(milliseconds % 1000, 3)
        text.append(UInt8(ascii: "Z"))
    }
}

/// The proleptic Gregorian calendar, by Howard Hinnant's "chrono-compatible low-level date algorithms".
enum Calendar {
    /// The number of a day, counted from 1970-01-01.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.flooredDivision(by: 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Year, month and day of a day counted from 1970-01-01.
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
    /// Quotient rounded down and the remainder, which is never negative.
    func flooredDivision(by divisor: Int64) -> (Int64, Int64) {
        let remainder = self % divisor
        return remainder < 0 ? (self / divisor - 1, remainder + divisor) : (self / divisor, remainder)
    }
}
