import HesperStore

/// The statements of a push, except BEGIN IMMEDIATE, COMMIT and ``MergeStatements``. A benchmark runs the same ones through
/// SQLite's C API.
public enum PushStatements {
    // MARK: Reads

    /// Scope.
    public static let lock = """
        SELECT sequence, digest, greatest_clock, server_clock, has_revocations, restored_sequence, parcel_bytes,
            blob_bytes, quota
        FROM scopes WHERE id = ?1
        """
    /// Scope, ID.
    public static let object = "SELECT section, sequence, body FROM objects WHERE scope = ?1 AND id = ?2"
    /// Scope, ID.
    public static let tombstone =
        "SELECT type, merged_into, deletion_date, sequence FROM tombstones WHERE scope = ?1 AND id = ?2"
    /// Scope, member.
    public static let holders = "SELECT object FROM members WHERE scope = ?1 AND member = ?2"
    /// Scope, object.
    public static let textClocks = """
        SELECT last_clock, text_clock FROM edits
        WHERE scope = ?1 AND object = ?2 AND last_clock IS NOT NULL ORDER BY last_clock DESC
        """
    /// Scope, object, sequence.
    public static let currentText =
        "SELECT max(text_clock) FROM edits WHERE scope = ?1 AND object = ?2 AND sequence <= ?3"

    // MARK: Writes

    /// Scope, ID, section, type, sequence, bytes, digest, body.
    public static let insertObject = """
        INSERT INTO objects (scope, id, section, type, sequence, bytes, digest, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
    /// The parameters of ``insertObject``.
    public static let updateObject = """
        UPDATE objects SET section = ?3, type = ?4, sequence = ?5, bytes = ?6, digest = ?7, body = ?8
        WHERE scope = ?1 AND id = ?2
        """
    /// Scope, ID.
    public static let deleteObject = "DELETE FROM objects WHERE scope = ?1 AND id = ?2"
    /// Scope, ID, type, merged into, deletion date, sequence, bytes, device, date of arrival.
    public static let putTombstone = """
        INSERT INTO tombstones (scope, id, type, merged_into, deletion_date, sequence, bytes, deleted_by, arrival_date)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (scope, id) DO UPDATE SET merged_into = ?4, deletion_date = ?5, sequence = ?6, bytes = ?7
        """
    /// Scope, member, note.
    public static let insertMember = "INSERT OR IGNORE INTO members (scope, member, object) VALUES (?1, ?2, ?3)"
    /// Scope, member, note.
    public static let deleteMember = "DELETE FROM members WHERE scope = ?1 AND member = ?2 AND object = ?3"
    /// Scope, attachment, date.
    public static let noteHolder = """
        UPDATE blobs SET unheld_since = CASE
            WHEN EXISTS (SELECT 1 FROM members WHERE scope = ?1 AND member = ?2) THEN NULL
            ELSE coalesce(unheld_since, ?3) END
        WHERE scope = ?1 AND attachment = ?2
        """
    /// Scope, object, date.
    public static let scheduleSweep = """
        INSERT INTO sweeps (scope, object, due_date) VALUES (?1, ?2, ?3)
        ON CONFLICT (scope, object) DO UPDATE SET due_date = ?3 WHERE due_date IS NULL OR due_date > ?3
        """
    /// Scope, folded name, tag.
    public static let claimTagName = "INSERT INTO tag_names (scope, folded_name, tag) VALUES (?1, ?2, ?3)"
    /// Scope, folded name, tag.
    public static let releaseTagName = "DELETE FROM tag_names WHERE scope = ?1 AND folded_name = ?2 AND tag = ?3"
    /// Scope, object, sequence, device, date, type, whether it was made by the server, first clock, last clock, text clock,
    /// text origin, body, whether its text lost words, clocks of missing ancestors, checksum.
    public static let insertParcel = """
        INSERT INTO edits (scope, object, sequence, pushed_by, pushed_at, type, is_servers, first_clock, last_clock,
            text_clock, text_origin, body, has_lost_words, missing_ancestors, checksum)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
        """
    /// Scope, object, clock of the text.
    public static let markLostWords = """
        UPDATE edits SET has_lost_words = 1, checksum = checksum + \(ParcelChecksum.lostWords)
        WHERE scope = ?1 AND object = ?2 AND last_clock >= ?3 AND text_clock = ?3 AND has_lost_words = 0
        """
    /// Scope, sequence, digest, greatest clock, server clock, bytes of the inserted parcels.
    public static let advance = """
        UPDATE scopes SET sequence = ?2, digest = ?3, greatest_clock = ?4, server_clock = ?5,
            parcel_bytes = parcel_bytes + ?6
        WHERE id = ?1
        """
}
