import HesperModel
import HesperStore

/// The position in a list after a page. Opaque to clients, which send it back as they received it in `nextCursor`.
struct Cursor: Sendable, Equatable {
    /// The meaning of the numbers depends on the list.
    var numbers: [Int64]

    init(_ numbers: Int64...) { self.numbers = numbers }

    var text: String {
        Base64URL.encode(Array(numbers.map(String.init).joined(separator: ".").utf8))
    }

    /// Parses a cursor.
    /// - Returns: nil if it was not written by ``text``, does not have `count` numbers, or has a negative one.
    init?(_ text: String, count: Int) {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text),
            let plain = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = plain.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int64($0) }
        guard parts.count == count, numbers.count == count, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.numbers = numbers
    }
}

extension APIRequest {
    /// The query parameter `cursor`, if it was sent.
    /// - Parameter count: the number of numbers in the cursors of this list.
    func cursor(_ count: Int) throws(Problem) -> Cursor? {
        guard let text = query["cursor"] else { return nil }
        guard let cursor = Cursor(text, count: count) else {
            throw Cursor.unknown
        }
        return cursor
    }
}

extension Cursor {
    /// The cursor is not from a page of this list.
    static let unknown = Problem(
        .invalidField, "cursor must be the nextCursor of the previous page, unchanged.", at: "cursor")
}
