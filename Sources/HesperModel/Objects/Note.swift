/// A note: text, whether it is archived, a date to sort by, its tags and attachments, and what apps made up.
public struct Note: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .notes)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Nil while only later edits of it are known: such a note waits and is shown to nobody.
    public var creationDate: Timestamp? { if case .date(let date)? = content[.creationDate] { date } else { nil } }
    public var text: String { if case .string(let text)? = content[.text] { text } else { "" } }
    /// Nil if its text was never set.
    public var textClock: Clock? { content.clock(.text) }
    public var archived: Bool { content[.archived] == .bool(true) }
    /// Nil means that the note sorts by its creation.
    public var sortDate: Timestamp? { if case .date(let date)? = content[.sortDate] { date } else { nil } }
    public var tags: Members { content.tags }
    public var attachments: Members { content.attachments }
    public var attributes: CustomAttributes { content.attributes }

    /// For readers that keep no clocks (protocol.md, Two forms).
    /// - Parameters: the live members, as ``Members/resolved(_:)`` finds them.
    public func plain(tags: [UniqueID], attachments: [UniqueID]) -> [UInt8] {
        content.plain(uniqueID, tags: tags, attachments: attachments)
    }
}
