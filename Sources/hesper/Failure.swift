/// The error of a command, with a message for the user.
struct Failure: Error, Equatable {
    /// The exit status of a failed command. `--help` lists the statuses. The numbers above 1 are from sysexits.h.
    enum Kind: Int32 {
        /// The operation failed, or a check found problems.
        case failed = 1
        /// The command line is invalid.
        case usage = 64
        /// The input is not valid, so a retry would fail too. Only `capture-mail` uses the statuses 65, 75 and 77.
        case unusableData = 65
        /// A temporary failure. A retry may succeed.
        case tryLater = 75
        /// The access token is invalid or does not permit the request.
        case noPermission = 77
        /// A setting is invalid.
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
