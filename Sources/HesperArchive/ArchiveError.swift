/// Why an archive cannot be read or made, in a sentence for people.
public struct ArchiveError: Error, Sendable, Equatable {
    public let message: String

    public init(_ message: String) { self.message = message }
}

extension ArchiveError: CustomStringConvertible {
    public var description: String { message }
}
