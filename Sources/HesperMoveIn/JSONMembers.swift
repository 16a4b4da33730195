import HesperModel

extension JSON {
    /// The value of the member `name` of this JSON object. Nil if this JSON value is not an object, or has no member with this
    /// name.
    subscript(name: String) -> JSON? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var isTrue: Bool { self == .bool(true) }

    var elements: [JSON] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    var number: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number.rounded())
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// The date in the member `name`, which may be a string or a number of milliseconds since 1970.
    func date(_ name: String) -> Timestamp? {
        guard let value = self[name] else { return nil }
        if let text = value.text, let date = Timestamp.loose(text) { return date }
        return value.number.flatMap { Timestamp(milliseconds: $0) }
    }
}

extension String {
    /// The text, in which each line break is a line feed.
    var withLineFeeds: String {
        // In Swift, a carriage return followed by a line feed is one character.
        contains("\r\n") || contains("\r")
            ? split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\r" || $0 == "\n" }.joined(
                separator: "\n")
            : self
    }
}
