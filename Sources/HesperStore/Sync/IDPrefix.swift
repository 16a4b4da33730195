import HesperModel

extension UniqueID {
    /// The range of IDs that begin with these hex digits; nil if `prefix` contains other characters or has more than 32 digits.
    public static func range(withPrefix prefix: String) -> ClosedRange<UniqueID>? {
        func filled(with digit: Character) -> UniqueID? {
            guard prefix.count <= 32 else { return nil }
            var digits = prefix + String(repeating: digit, count: 32 - prefix.count)
            for place in [20, 16, 12, 8] { digits.insert("-", at: digits.index(digits.startIndex, offsetBy: place)) }
            return UniqueID(digits)
        }
        guard let low = filled(with: "0"), let high = filled(with: "f") else { return nil }
        return low...high
    }
}
