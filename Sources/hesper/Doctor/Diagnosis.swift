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

    var line: String { "\(kind.rawValue): \(text)" }
}
