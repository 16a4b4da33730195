import Foundation
import HesperModel

/// The parameters of a URL query or an HTML form, such as `limit=10&q=oat%20milk` (WHATWG URL,
/// application/x-www-form-urlencoded).
struct Query: Sendable {
    private let pairs: [(name: String, value: String)]

    static let empty = Query(pairs: [])

    private init(pairs: [(name: String, value: String)]) { self.pairs = pairs }

    /// Parses a query or a form.
    /// - Parameter known: the names that are allowed.
    /// - Throws: ``Problem`` if a name is unknown or occurs twice, or an escape is invalid.
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
                let all =
                    known.isEmpty
                    ? "This path has no parameters." : "Known parameters: \(known.joined(separator: ", "))."
                throw Problem(.unknownField, "The parameter \"\(name.prefix(64))\" is unknown. \(all)", at: name)
            }
            guard !pairs.contains(where: { $0.name == name }) else {
                throw Problem(.invalidField, "The parameter \(name) must not occur twice.", at: name)
            }
            pairs.append((name, try Query.decoded(part[before.endIndex...].dropFirst())))
        }
        self.pairs = pairs
    }

    subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The query in percent-encoding, after one parameter has been moved to the end and set to a new value.
    func text(replacing name: String, with value: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let all = pairs.filter { $0.name != name } + [(name, value)]
        return all.map { pair in
            "\(pair.name)=\(pair.value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")"
        }.joined(separator: "&")
    }

    /// The value of a parameter that must be a whole number. If the parameter was not sent, the result is `standard`. If the value
    /// is above the range, the result is the upper bound of the range.
    /// - Throws: ``Problem`` `invalid-field` if the value is not a whole number or is below the range.
    func integer(_ name: String, default standard: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = self[name] else { return standard }
        let digits = text.utf8.allSatisfy { (0x30...0x39).contains($0) } && !text.isEmpty
        guard digits, case let value = Int(text) ?? .max, value >= range.lowerBound else {
            throw Problem(.invalidField, "\(name) must be a whole number of at least \(range.lowerBound).", at: name)
        }
        return min(value, range.upperBound)
    }

    /// The value of a parameter that must be `true` or `false`; nil if the parameter was not sent.
    func bool(_ name: String) throws(Problem) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true"?: true
        case "false"?: false
        default: throw Problem(.invalidField, "\(name) must be true or false.", at: name)
        }
    }

    private static func decoded(_ text: Substring.UTF8View) throws(Problem) -> String {
        guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(Substring(text))
        }
        let spaced = text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let decoded = String(decoding: spaced, as: UTF8.self).removingPercentEncoding else {
            throw Problem(
                .malformedRequest, "The percent-encoding of the query or form is invalid, or not UTF-8.")
        }
        return decoded
    }
}
