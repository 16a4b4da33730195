/// The limits on client requests. `GET /v1/server` publishes the limits that a client must observe (protocol.md, Limits).
public enum Limits {
    /// The maximum length of a text, in UTF-8 bytes.
    public static let textBytes = 1 << 20
    /// The maximum number of clocks in the field `textAfter` of a note or a deletion.
    public static let textAfter = 16
    /// The maximum length of a tag's name, in UTF-8 bytes.
    public static let tagNameBytes = 256
    /// The maximum length of the value of an app-defined attribute, in bytes of JSON.
    public static let attributeValueBytes = 8 << 10
    /// The maximum number of app-defined attributes of a note or a tag.
    public static let attributes = 64
    /// The maximum number of attributes of an app's own object.
    public static let objectAttributes = 256
    /// The maximum number of texts of an app's own object, including emptied ones. Each has at most ``textBytes``.
    public static let objectTexts = 4
    /// The maximum number of files of an app's own object, including removed ones.
    public static let objectFiles = 64
    /// The maximum number of tags of a note, including removed ones. The same maximum applies to attachments.
    public static let members = 1_000
    /// The maximum nesting depth of arrays and objects in a request.
    public static let depth = 16
    /// The maximum number of JSON values in a request, including nested ones. This limit applies in addition to the limit on the
    /// size, because even a short value takes memory.
    public static let jsonValues = 250_000
    /// The maximum magnitude of an integer. A double represents all integers up to this magnitude exactly.
    public static let integer: Int64 = (1 << 53) - 1
    /// The maximum number of elements in a push.
    public static let pushObjects = 2_000
    /// The maximum length of a request's body after decompression, in bytes.
    public static let pushBytes = 8 << 20
    /// The maximum total size of the stored objects that a push changes, in bytes of JSON. A merge loads all these objects while
    /// it blocks other writers.
    public static let pushLoadBytes = 32 << 20
    /// The maximum number of objects on a page, for requests that do not specify a maximum.
    public static let defaultPage = 1_000
    /// The upper limit for the number of objects on a page. If a request specifies more, this number is used instead.
    public static let greatestPage = 5_000
    /// The size at which a page of objects ends, in bytes. A page has at least one object, even if that object is larger.
    public static let pageBytes = 4 << 20
    /// The size at which a page of objects ends if it is sent as an event, in bytes.
    public static let eventBytes = 256 << 10
    /// The maximum length of an ephemeral message from a device, in bytes of JSON.
    public static let ephemeralBytes = 4 << 10
    public static let passwordBytes = 8...1_024
    /// The maximum length of a device's name, in characters.
    public static let deviceNameLength = 100
    /// The maximum number of access tokens of an account.
    public static let accessTokens = 100
    /// The maximum number of webhooks of an account.
    public static let webhooks = 10
    /// The maximum length of an e-mail address, in bytes (RFC 5321).
    public static let emailBytes = 254
    /// The maximum length of an idempotency key, in characters.
    public static let idempotencyKeyLength = 255
    /// How long an idempotency key is recorded, in seconds.
    public static let idempotencyKeySeconds = 86_400
    /// The maximum number of idempotency keys that are recorded for an account. If there are more, the oldest are removed.
    public static let idempotencyKeys = 10_000
    /// The maximum total length of a request's headers, in bytes.
    public static let headerBytes = 16 << 10
    /// The maximum length of an attachment's preview, in bytes of Base64.
    public static let previewBytes = 8 << 10
    /// The maximum length of an attachment's file name, in UTF-8 bytes.
    public static let filenameBytes = 1_024
    /// The maximum length of the name of an app-defined type, attribute, text or file, in characters.
    public static let nameLength = 64
    /// The maximum number of notes that are read for one page of a search.
    public static let searchNotes = 10_000
    /// The maximum time that the search for one page of results takes, in seconds.
    public static let searchSeconds = 3
    /// The maximum time by which a pushed clock may be ahead of the server's wall clock, in milliseconds (merge.md, Clocks).
    public static let clockAhead: UInt64 = 5 * 60 * 1_000
}
