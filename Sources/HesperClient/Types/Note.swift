public import Foundation

/// A note. The protocol defines this type. The web app shows notes too.
public struct Note: SyncedObject {
    public static let objectType = "note"

    public var id = ObjectID<Note>()
    /// The text of the note.
    @Merged public var text = MergedText()
    /// Whether the note is in the archive.
    @Merged public var isArchived = false
    /// The date by which the note is sorted. Until this date is set, it equals the creation date.
    @Merged public var sortDate = Note.now
    /// The date at which the note was created. It never changes.
    @Merged public internal(set) var creationDate = Note.now
    /// The tags of the note. Deleted tags are left out. A tag that was merged into another tag is replaced by that tag.
    @Merged public var tags = MergedSet<ObjectID<Tag>>()
    /// The attachments of the note. An attachment belongs to one note.
    @Merged public var attachments = MergedSet<Attachment.ID>()
    /// Whether the note is shown above all notes that are not pinned.
    @Merged public var isPinned = false
    /// The path of the note's file, such as `Kitchen/Soup.md`, in a folder of text files that is synced with the notes. Nil if no
    /// such folder has set a path.
    @Merged public var path: String?
    /// `crlf` if the lines of the file at ``path`` end with CR LF; nil otherwise. If the value is `crlf`, the lines of ``text``
    /// still end with LF.
    @Merged public var lineEnds: String?

    /// Creates an empty note.
    public init() { self.init(text: MergedText()) }

    /// Creates a note.
    public init(text: MergedText, creationDate: Date = Date()) {
        let date = creationDate.roundedToMilliseconds
        self.text = text
        self.creationDate = date
        self.sortDate = date
    }

    enum CodingKeys: String, CodingKey {
        case id, text, sortDate, creationDate, tags, attachments, path, lineEnds
        case isArchived = "archived"
        case isPinned = "pinned"
    }

    private static var now: Date { Date().roundedToMilliseconds }
}

extension Date {
    /// The date in whole milliseconds, as dates are stored.
    fileprivate var roundedToMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1_000).rounded() / 1_000)
    }
}
