import Foundation
import HesperModel

/// Names and values as a query or a form writes them: `limit=10&q=oat%20milk` (WHATWG URL, application/x-www-form-urlencoded).
struct Query: Sendable {
    private let pairs: [(name: String, value: String)]

    static let empty = Query(pairs: [])

    private init(pairs: [(name: String, value: String)]) { self.pairs = pairs }

    /// - Parameter known: the names that may stand there.
    /// - Throws: ``Problem`` about a name that is not known or stands twice, or an escape that cannot be read.
    init(_ text: some StringProtocol, known: [String]) throws(Problem) {
        var pairs: [(name: String, value: String)] = []
        var rest = Substring(text).utf8
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest[part.endIndex...].dropFirst()
            guard !part.isEmpty else { continue }
            let before = part.prefix { $0 != UInt8(ascii: "=") }
            let name = try Query.decoded(before)
            guard known.contains(name) else {
                let all = known.isEmpty ? "none is" : "known are " + known.joined(separator: ", ")
                throw Problem(.unknownField, "There is no parameter \"\(name.prefix(64))\" here: \(all).", at: name)
            }
            guard !pairs.contains(where: { $0.name == name }) else {
                throw Problem(.invalidField, "The parameter \(name) stands twice.", at: name)
            }
            pairs.append((name, try Query.decoded(part[before.endIndex...].dropFirst())))
        }
        self.pairs = pairs
    }

    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// A whole number; one above the range is read as its upper bound.
    func integer(_ name: String, default standard: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = self[name] else { return standard }
        let digits = text.utf8.allSatisfy { (0x30...0x39).contains($0) } && !text.isEmpty
        guard digits, case let value = Int(text) ?? .max, value >= range.lowerBound else {
            throw Problem(.invalidField, "\(name) is a whole number from \(range.lowerBound).", at: name)
        }
        return min(value, range.upperBound)
    }

    /// `true` or `false`.
    func bool(_ name: String) throws(Problem) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true"?: true
        case "false"?: false
        default: throw Problem(.invalidField, "\(name) is true or false.", at: name)
        }
    }

    private static func decoded(_ text: Substring.UTF8View) throws(Problem) -> String {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(Substring(text))
        }
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let decoded = String(decoding: spaced, as: UTF8.self).removingPercentEncoding else {
            throw Problem(
                .malformedRequest, "A percent sign in the query is not followed by hex digits that make UTF-8.")
        }
        return decoded
    }
}
