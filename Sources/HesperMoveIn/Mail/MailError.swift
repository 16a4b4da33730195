/// The reason why a message cannot be read.
public struct MailError: Error, Equatable, CustomStringConvertible {
    /// The reason, as a sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
