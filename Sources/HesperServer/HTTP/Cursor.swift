import HesperModel
import HesperStore

/// Where a list goes on: opaque to clients, who give back what the last page gave them as `nextCursor`.
struct Cursor: Sendable, Equatable {
    /// What it means is the list's own business.
    var numbers: [Int64]

    init(_ numbers: Int64...) { self.numbers = numbers }

    var text: String {
        Base64URL.encode(Array(numbers.map(String.init).joined(separator: ".").utf8))
    }

    /// Nil if it is not one that ``text`` wrote, with this many numbers, none of them negative.
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

extension Call {
    /// The cursor among the parameters.
    /// - Parameter count: how many numbers this list's cursors have.
    func cursor(_ count: Int) throws(Problem) -> Cursor? {
        guard let text = query["cursor"] else { return nil }
        guard let cursor = Cursor(text, count: count) else {
            throw Cursor.unknown
        }
        return cursor
    }
}

extension Cursor {
    /// It is none that a page of this list gave.
    static let unknown = Problem(
        .invalidField, "A cursor is what the last page gave as nextCursor, unchanged.", at: "cursor")
}
