/// The error for an archive that cannot be read or written. The message is shown to the user.
public struct ArchiveError: Error, Sendable, Equatable {
    public let message: String
    /// Whether only one file of the archive cannot be read. The files after it can be read if the archive is opened again.
    public let isOneFile: Bool

    public init(_ message: String, isOneFile: Bool = false) { (self.message, self.isOneFile) = (message, isOneFile) }
}

extension ArchiveError: CustomStringConvertible {
    public var description: String { message }
}
