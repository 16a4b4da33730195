/// The error for an archive that cannot be read or written. The message is shown to the user.
public struct ArchiveError: Error, Sendable, Equatable {
    public let message: String

    public init(_ message: String) { self.message = message }
}

extension ArchiveError: CustomStringConvertible {
    public var description: String { message }
}
