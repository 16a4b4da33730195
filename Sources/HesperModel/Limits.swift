/// Every bound on what a client may send; `GET /v1/server` has those that a client keeps to (protocol.md, Limits).
public enum Limits {
    /// The text of a note, in UTF-8 bytes.
    public static let textBytes = 1 << 20
    /// Own unanswered texts that a pushed text, or a deletion, may name.
    public static let textAfter = 16
    /// The name of a tag, in UTF-8 bytes.
    public static let tagNameBytes = 256
    /// The value of one attribute that an app made up, in bytes of JSON.
    public static let attributeValueBytes = 8 << 10
    /// Attributes that an app made up, on a note or a tag.
    public static let attributes = 64
    /// Attributes of an app's own object.
    public static let objectAttributes = 256
    /// Tags, or attachments, that a note ever had.
    public static let members = 1_000
    /// How deeply arrays and objects may be nested in a request.
    public static let depth = 16
    /// Values in a request's JSON, those inside of others included: each takes memory, however short it is.
    public static let jsonValues = 250_000
    /// Integers lie within ± this: what a double holds exactly.
    public static let integer: Int64 = (1 << 53) - 1
    /// Elements in one push.
    public static let pushObjects = 2_000
    /// One request's body, in bytes, unpacked.
    public static let pushBytes = 8 << 20
    /// What is kept of the objects that a push names, in bytes of their bodies: a merge reads all of it while nobody else can write.
    public static let pushLoadBytes = 32 << 20
    /// Objects on a page, if the client does not say.
    public static let defaultPage = 1_000
    /// Objects on a page at most; more is clamped.
    public static let greatestPage = 5_000
    /// A page ends early past this many bytes of objects, but is never empty.
    public static let pageBytes = 4 << 20
    /// The same for a page that goes out as an event.
    public static let eventBytes = 256 << 10
    /// What a device says to the others, in bytes of JSON.
    public static let ephemeralBytes = 4 << 10
    public static let passwordBytes = 8...1_024
    /// The name of a device, in characters.
    public static let deviceNameLength = 100
    /// An e-mail address, in bytes (RFC 5321).
    public static let emailBytes = 254
    /// All headers of a request together, in bytes.
    public static let headerBytes = 16 << 10
    /// A tiny image that stands in for an attachment, in bytes of base64.
    public static let previewBytes = 8 << 10
    /// The name of an attachment's file, in UTF-8 bytes.
    public static let filenameBytes = 1_024
    /// The name of a type or of an attribute that an app made up, in characters.
    public static let nameLength = 64
    /// Notes that are read for one page of a search.
    public static let searchNotes = 10_000
    /// Seconds that one page of a search may take.
    public static let searchSeconds = 3
    /// How far a pushed clock may be ahead of the server's wall clock, in milliseconds (merge.md, Clocks).
    public static let clockAhead: UInt64 = 5 * 60 * 1_000
}
