/// Damage done by an SQL statement, and the expected finding. In the finding, `NOTE`, `TAG`, `PICTURE` and `DEAD` stand for the IDs of
/// objects.
public struct Damage: Sendable, CustomStringConvertible {
    public let sql: String
    public let sentence: String

    public init(_ sql: String, _ sentence: String) {
        self.sql = sql
        self.sentence = sentence
    }

    public var description: String { sql }

    public static let mismatch = "NOTE has a parcel of edits that does not match its checksum."

    /// The damages whose statements are the same for both databases.
    public static let onBothStores = [
        Damage("UPDATE objects SET bytes = 7 WHERE section = 0", "NOTE has"),
        Damage(
            "UPDATE objects SET type = 'tag' WHERE section = 0",
            "The type of NOTE differs from that of the fold of its edits."),
        Damage("UPDATE objects SET section = 9 WHERE section = 0", "NOTE has an unknown section."),
        Damage("UPDATE objects SET sequence = NULL WHERE section = 0", "NOTE exists, but has no sequence number."),
        Damage(
            "UPDATE objects SET sequence = 99 WHERE section = 0",
            "NOTE has sequence number 99, but the last one assigned is 5."),
        Damage("UPDATE objects SET sequence = 1 WHERE section = 0", "Sequence number 1 was assigned 2 times."),
        Damage(
            "DELETE FROM objects WHERE section = 0", "NOTE has edits, but is neither an object nor a DeletedObject."),
        Damage("DELETE FROM edits WHERE type = 'note'", "NOTE differs from the fold of its edits."),
        Damage("UPDATE edits SET sequence = sequence + 1", mismatch),
        Damage("UPDATE edits SET checksum = 7", mismatch),
        Damage("DELETE FROM members", "NOTE holds TAG, but the index of members has no entry for it."),
        Damage("DELETE FROM tag_names", "The index of tag names has no entry for tag TAG."),
        Damage(
            "INSERT INTO tag_names SELECT scope, 'rome', id FROM objects WHERE section = 1",
            "The index of tag names has a wrong name for tag TAG."),
        Damage("UPDATE tombstones SET bytes = 7", "DEAD has"),
        Damage("UPDATE tombstones SET type = '?'", "DEAD is a DeletedObject of an unknown type."),
        Damage("DELETE FROM documents", "NOTE is missing from the index of terms."),
        Damage("DELETE FROM terms", "The terms of NOTE in the index of terms differ from those of its text."),
        Damage(
            "UPDATE blobs SET byte_count = 4",
            "The size or digest of attachment PICTURE differs from that of its recorded bytes."),
        Damage(
            "UPDATE blobs SET sha256 = 'x'",
            "The size or digest of attachment PICTURE differs from that of its recorded bytes."),
        Damage("UPDATE scopes SET blob_bytes = 4", "The attachments have 3 bytes, but 4 are recorded."),
        Damage("UPDATE scopes SET parcel_bytes = 4", "bytes, but 4 are recorded."),
        Damage("UPDATE blobs SET unheld_since = NULL", "No object holds attachment PICTURE, but"),
        Damage("DELETE FROM blobs", "Attachment PICTURE exists, but its bytes are not recorded."),
        Damage("UPDATE blobs SET attachment = (SELECT id FROM tombstones)", "DEAD is deleted, but its bytes are not."),
    ]
}
