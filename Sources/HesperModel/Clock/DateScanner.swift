/// Parses an RFC 3339 date-time.
struct DateScanner {
    private var bytes: Substring.UTF8View

    init(_ bytes: String.UTF8View) { self.bytes = bytes[...] }

    /// Reads a date-time as milliseconds since 1970; nil if the bytes are anything other than one complete date-time.
    mutating func dateTime() -> Int64? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            (1...12).contains(month), (1...Calendar.daysIn(month: month, year: year)).contains(day),
            take("T") || take("t"),
            let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        // RFC 3339 allows second 60 for leap seconds. Milliseconds since 1970 cannot represent it, so it counts as the first
        // second of the next minute.
        guard let fraction = fraction(), let offset = offset(), bytes.isEmpty else { return nil }
        let minutes = Calendar.day(year: year, month: month, day: day) * 1440 + hour * 60 + minute - offset
        return minutes * 60_000 + second * 1000 + fraction
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    private mutating func digit() -> Int64? {
        guard let byte = bytes.first, (0x30...0x39).contains(byte) else { return nil }
        bytes = bytes.dropFirst()
        return Int64(byte - 0x30)
    }

    private mutating func number(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The fraction of a second, rounded to milliseconds: 0 to 1000. It is 0 if there is no fraction, and nil if the fraction
    /// has no digits.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            count += 1
            if count <= 3 { value = value * 10 + digit }
            if count == 4 && digit >= 5 { value += 1 }
        }
        guard count > 0 else { return nil }
        for _ in stride(from: count, to: 3, by: 1) { value *= 10 }
        return value
    }

    /// Reads the offset of the local time from UTC in minutes, positive to the east.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64 = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 60 + minutes)
    }
}
