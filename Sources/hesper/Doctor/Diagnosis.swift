import Foundation

/// A finding of `hesper doctor`: a text that states a fact and, if necessary, what to do about it.
struct Diagnosis: Equatable {
    enum Kind: String {
        case ok
        /// Something may be a problem now or later, unless the operator intends it.
        case warning
        /// Something does not work or is not secure.
        case wrong
    }

    let kind: Kind
    let text: String

    static func ok(_ text: String) -> Diagnosis { Diagnosis(kind: .ok, text: text) }
    static func warning(_ text: String) -> Diagnosis { Diagnosis(kind: .warning, text: text) }
    static func wrong(_ text: String) -> Diagnosis { Diagnosis(kind: .wrong, text: text) }

    /// The findings that `body` returns. If `body` throws an error, the result is one finding that describes the error.
    static func trying(_ body: () throws -> [Diagnosis]) -> [Diagnosis] {
        do { return try body() } catch { return [.wrong("\(error)")] }
    }

    /// Returns a finding if other users can access a file or folder, and an empty array otherwise.
    static func openness(of path: String, _ status: stat) -> [Diagnosis] {
        guard status.st_mode & 0o077 != 0 else { return [] }
        let digits = String(status.st_mode & 0o777, radix: 8)
        return [.wrong("\(path) is accessible to other users (mode \(digits)). Run chmod go= \(path)")]
    }

    var line: String { "\(kind.rawValue): \(text)" }
}
