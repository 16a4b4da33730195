import Foundation

/// A finding of `hesper doctor`: a sentence that also says what to do.
struct Diagnosis: Equatable {
    enum Kind: String {
        case ok
        /// A possible problem, which may be intended or may become one.
        case warning
        /// Something does not work or is not secure.
        case wrong
    }

    let kind: Kind
    let text: String

    static func ok(_ text: String) -> Diagnosis { Diagnosis(kind: .ok, text: text) }
    static func warning(_ text: String) -> Diagnosis { Diagnosis(kind: .warning, text: text) }
    static func wrong(_ text: String) -> Diagnosis { Diagnosis(kind: .wrong, text: text) }

    /// The findings of `body`, or its error as a finding.
    static func trying(_ body: () throws -> [Diagnosis]) -> [Diagnosis] {
        do { return try body() } catch { return [.wrong("\(error)")] }
    }

    /// A finding if a file or folder is accessible to other users.
    static func openness(of path: String, _ status: stat) -> [Diagnosis] {
        guard status.st_mode & 0o077 != 0 else { return [] }
        let digits = String(status.st_mode & 0o777, radix: 8)
        return [.wrong("\(path) is accessible to other users (mode \(digits)). Run chmod go= \(path)")]
    }

    var line: String { "\(kind.rawValue): \(text)" }
}
