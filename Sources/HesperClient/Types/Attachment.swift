/// The properties of a file that belongs to a note or to an object of an app's type. They never change.
///
/// A ``Note`` has a set of attachments. In a type that an app declares, a property can hold one attachment:
///
///     @Merged var photo: Attachment.ID?
///
/// An attachment belongs to one object. The server deletes an attachment that has belonged to no object for 30 days.
public struct Attachment: SyncedObject {
    public static let objectType = "attachment"

    public var id = ObjectID<Attachment>()
    /// The media type of the file, for example `image/jpeg`.
    @Merged public internal(set) var mimeType = ""
    /// The name of the file.
    @Merged public internal(set) var filename: String?
    /// The width of a picture, in pixels.
    @Merged public internal(set) var width: Int?
    /// The height of a picture, in pixels.
    @Merged public internal(set) var height: Int?
    /// A small version of a picture, in Base64.
    @Merged public internal(set) var preview: String?
    /// The size of the file, in bytes.
    @Merged public internal(set) var byteCount: Int?
    /// The SHA-256 hash of the file's bytes, in hexadecimal.
    @Merged public internal(set) var sha256: String?

    /// Creates the properties of an attachment. Apps add attachments by attaching files.
    public init() {}
}
