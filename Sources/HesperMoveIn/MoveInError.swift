/// The error for a source that cannot be read at all. The message is shown to the user.
public struct MoveInError: Error, Sendable, Equatable {
    public let message: String
    /// Whether the path of the source is wrong. False if its contents cannot be read or processed.
    public let isUsage: Bool

    init(_ message: String, isUsage: Bool = false) { (self.message, self.isUsage) = (message, isUsage) }
}

extension MoveInError: CustomStringConvertible {
    public var description: String { message }
}
