/// The error for an archive that cannot be read or written. The message is shown to the user.
public struct ArchiveError: Error, Sendable, Equatable {
    public let message: String
    /// Whether the error concerns only one file of the archive. If so, the caller can open the archive again and read the files
    /// after that file.
    public let isOneFile: Bool

    public init(_ message: String, isOneFile: Bool = false) { (self.message, self.isOneFile) = (message, isOneFile) }
}

extension ArchiveError: CustomStringConvertible {
    public var description: String { message }
}
