import HesperModel
import HesperStore

/// The position in a list at which the next page begins. A client receives it as `nextCursor` and sends it back unchanged.
/// Clients must not interpret its content.
struct Cursor: Sendable, Equatable {
    /// The numbers that describe the position in the list. Their meaning depends on the list.
    var numbers: [Int64]

    init(_ numbers: Int64...) { self.numbers = numbers }

    var text: String {
        Base64URL.encode(Array(numbers.map(String.init).joined(separator: ".").utf8))
    }

    /// Parses a cursor.
    /// - Returns: nil if `text` is not the ``text`` of a cursor, if the cursor does not have `count` numbers, or if a number is
    ///   negative.
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
    /// The cursor in the query parameter `cursor`; nil if the parameter was not sent.
    /// - Parameter count: the number of integers in a cursor of this list.
    func cursor(_ count: Int) throws(Problem) -> Cursor? {
        guard let text = query["cursor"] else { return nil }
        guard let cursor = Cursor(text, count: count) else {
            throw Cursor.unknown
        }
        return cursor
    }
}

extension Cursor {
    /// The error for a cursor that is not the `nextCursor` of a page of this list.
    static let unknown = Problem(
        .invalidField, "cursor must be the nextCursor of the previous page, unchanged.", at: "cursor")
}
