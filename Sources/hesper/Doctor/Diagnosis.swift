import Foundation

/// What `hesper doctor` says of one thing, in a sentence that also says what to do.
struct Diagnosis: Equatable {
    enum Kind: String {
        case ok
        /// It works, and may be meant; or it will not work for long.
        case warning
        /// Something does not work, or is not safe.
        case wrong
    }

    let kind: Kind
    let text: String

    static func ok(_ text: String) -> Diagnosis { Diagnosis(kind: .ok, text: text) }
    static func warning(_ text: String) -> Diagnosis { Diagnosis(kind: .warning, text: text) }
    static func wrong(_ text: String) -> Diagnosis { Diagnosis(kind: .wrong, text: text) }

    /// The diagnosis of what goes wrong, and of what comes of it else.
    static func trying(_ body: () throws -> [Diagnosis]) -> [Diagnosis] {
        do { return try body() } catch { return [.wrong("\(error)")] }
    }

    /// The diagnosis of a file or folder that is not for its owner's eyes alone.
    static func openness(of path: String, _ status: stat) -> [Diagnosis] {
        guard status.st_mode & 0o077 != 0 else { return [] }
        let digits = String(status.st_mode & 0o777, radix: 8)
        return [.wrong("Others may look into \(path), which has mode \(digits): chmod go= \(path)")]
    }

    var line: String { "\(kind.rawValue): \(text)" }
}
