/// A number of bytes in a readable form: `1048576`, `100MiB`, `2GB`.
struct ByteSize: Equatable {
    let bytes: Int64

    static let form = "a number of bytes such as 1048576, 100MiB or 2GB"

    private static let units: [String: Int64] = [
        "": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000, "kib": 1 << 10,
        "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
    ]

    /// Parses a number of bytes. Nil if the text has another form, or if the number is too large.
    init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        guard let number = Int64(digits), let factor = ByteSize.units[unit] else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: factor)
        guard !isTooLarge else { return nil }
        self.bytes = bytes
    }
}
