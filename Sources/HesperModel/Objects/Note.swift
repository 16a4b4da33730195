/// A note: text, archived flag, a date to sort by, tags, attachments, and the attributes that apps define.
public struct Note: Sendable, Equatable {
    public let uniqueID: UniqueID
    var content = Content(of: .notes)

    public init(uniqueID: UniqueID) { self.uniqueID = uniqueID }

    /// The date when the note was created. Nil until an edit with this date arrives; until then the note is neither shown nor
    /// sent.
    public var creationDate: Timestamp? { if case .date(let date)? = content[.creationDate] { date } else { nil } }
    public var text: String { if case .string(let text)? = content[.text] { text } else { "" } }
    /// The clock of the note's text. Nil if the text was never set.
    public var textClock: Clock? { content.clock(.text) }
    public var archived: Bool { content[.archived] == .bool(true) }
    /// The date by which the note is sorted. Nil if it was never set; the note is then sorted by its creation date.
    public var sortDate: Timestamp? { if case .date(let date)? = content[.sortDate] { date } else { nil } }
    public var tags: Members { content.tags }
    public var attachments: Members { content.attachments }
    public var attributes: NamedRegisters { content.attributes }

    /// The note's JSON, without clocks (protocol.md, Two forms).
    /// - Parameters:
    ///   - tags: the live tags of the note, from ``Members/resolved(_:)``.
    ///   - attachments: the live attachments of the note, from ``Members/resolved(_:)``.
    public func plain(tags: [UniqueID], attachments: [UniqueID]) -> [UInt8] {
        content.plain(uniqueID, tags: tags, attachments: attachments)
    }
}
