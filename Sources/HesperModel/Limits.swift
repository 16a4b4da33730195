/// The limits on client requests. `GET /v1/server` publishes those that a client must observe (protocol.md, Limits).
public enum Limits {
    /// The length of a note's text, in UTF-8 bytes.
    public static let textBytes = 1 << 20
    /// The number of clocks in `textAfter` of a text or a deletion.
    public static let textAfter = 16
    /// The length of a tag's name, in UTF-8 bytes.
    public static let tagNameBytes = 256
    /// The length of an app-defined attribute's value, in bytes of JSON.
    public static let attributeValueBytes = 8 << 10
    /// The number of app-defined attributes of a note or a tag.
    public static let attributes = 64
    /// The number of attributes of an app's own object.
    public static let objectAttributes = 256
    /// The number of tags, or of attachments, that a note has or had.
    public static let members = 1_000
    /// The nesting depth of arrays and objects in a request.
    public static let depth = 16
    /// The number of JSON values in a request, including nested ones. Each takes memory, however short it is.
    public static let jsonValues = 250_000
    /// The maximum magnitude of integers: the range in which a double is exact.
    public static let integer: Int64 = (1 << 53) - 1
    /// The number of elements in a push.
    public static let pushObjects = 2_000
    /// The length of a request's body after decompression, in bytes.
    public static let pushBytes = 8 << 20
    /// The total size of the stored bodies of the objects in a push, in bytes. A merge loads all of them while it blocks other
    /// writers.
    public static let pushLoadBytes = 32 << 20
    /// The number of objects on a page if the request does not specify it.
    public static let defaultPage = 1_000
    /// The maximum number of objects on a page. Larger requested numbers are reduced to it.
    public static let greatestPage = 5_000
    /// The size at which a page of objects ends, in bytes. A page is never empty.
    public static let pageBytes = 4 << 20
    /// The size at which a page that is sent as an event ends, in bytes.
    public static let eventBytes = 256 << 10
    /// The length of an ephemeral message from a device, in bytes of JSON.
    public static let ephemeralBytes = 4 << 10
    public static let passwordBytes = 8...1_024
    /// The length of a device's name, in characters.
    public static let deviceNameLength = 100
    /// The length of an e-mail address, in bytes (RFC 5321).
    public static let emailBytes = 254
    /// The characters of an idempotency key.
    public static let idempotencyKeyLength = 255
    /// For how many seconds an idempotency key is recorded.
    public static let idempotencyKeySeconds = 86_400
    /// Idempotency keys that are recorded for an account; of more, the oldest are removed.
    public static let idempotencyKeys = 10_000
    /// The total length of a request's headers, in bytes.
    public static let headerBytes = 16 << 10
    /// The length of an attachment's preview, in bytes of Base64.
    public static let previewBytes = 8 << 10
    /// The length of an attachment's file name, in UTF-8 bytes.
    public static let filenameBytes = 1_024
    /// The length of the name of an app-defined type or attribute, in characters.
    public static let nameLength = 64
    /// The number of notes that are read for one page of a search.
    public static let searchNotes = 10_000
    /// The time limit for one page of a search, in seconds.
    public static let searchSeconds = 3
    /// How far a pushed clock may be ahead of the server's wall clock, in milliseconds (merge.md, Clocks).
    public static let clockAhead: UInt64 = 5 * 60 * 1_000
}
