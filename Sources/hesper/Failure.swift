/// Why a command cannot do what it was asked, in one sentence for the person at the terminal.
struct Failure: Error, Equatable {
    /// What a command's exit status says (`--help` lists them; the numbers are those of sysexits.h).
    enum Kind: Int32 {
        /// It could not be done, or something was found to be wrong.
        case failed = 1
        /// The command line is wrong.
        case usage = 64
        /// A setting is wrong.
        case settings = 78
    }

    let kind: Kind
    let message: String

    init(_ message: String, _ kind: Kind = .failed) {
        self.kind = kind
        self.message = message
    }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}
