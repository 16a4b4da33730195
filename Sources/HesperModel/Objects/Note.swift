/// A note: text, archived flag, a date to sort by, tags, attachments, and the attributes that apps define.
public struct Note: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .notes)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// Nil while only other attributes are known. Such a note waits and is not shown.
    public var creationDate: Timestamp? { if case .date(let date)? = content[.creationDate] { date } else { nil } }
    public var text: String { if case .string(let text)? = content[.text] { text } else { "" } }
    /// Nil if its text was never set.
    public var textClock: Clock? { content.clock(.text) }
    public var archived: Bool { content[.archived] == .bool(true) }
    /// Nil if it was never set. The note then sorts by its creation date.
    public var sortDate: Timestamp? { if case .date(let date)? = content[.sortDate] { date } else { nil } }
    public var tags: Members { content.tags }
    public var attachments: Members { content.attachments }
    public var attributes: CustomAttributes { content.attributes }

    /// The JSON without clocks (protocol.md, Two forms).
    /// - Parameters: the live members, as ``Members/resolved(_:)`` returns them.
    public func plain(tags: [UniqueID], attachments: [UniqueID]) -> [UInt8] {
        content.plain(uniqueID, tags: tags, attachments: attachments)
    }
}
