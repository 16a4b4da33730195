import HesperStore

/// The SQL statements that a push runs, except BEGIN IMMEDIATE, COMMIT and ``MergeStatements``. They are public because a
/// benchmark runs the same statements with SQLite's C API.
public enum PushStatements {
    // MARK: Reads

    /// Reads the row of a scope. The row needs no lock, because a write transaction locks the whole database. Parameter: scope.
    public static let lock = """
        SELECT sequence, digest, greatest_clock, server_clock, has_revocations, restored_sequence, parcel_bytes,
            blob_bytes, quota
        FROM scopes WHERE id = ?1
        """
    /// Reads an object. Parameters: scope, ID.
    public static let object = "SELECT section, sequence, body FROM objects WHERE scope = ?1 AND id = ?2"
    /// Reads a DeletedObject. Parameters: scope, ID.
    public static let tombstone =
        "SELECT type, merged_into, deletion_date, sequence FROM tombstones WHERE scope = ?1 AND id = ?2"
    /// Finds the objects that hold a tag or attachment. Parameters: scope, ID of the tag or attachment.
    public static let holders = "SELECT object FROM members WHERE scope = ?1 AND member = ?2"
    /// Reads three columns of the parcels of an object, newest first: last clock, text clock, name of the text. Parameters: scope,
    /// object.
    public static let textClocks = """
        SELECT last_clock, text_clock, text_name FROM edits
        WHERE scope = ?1 AND object = ?2 AND last_clock IS NOT NULL ORDER BY last_clock DESC
        """
    /// Reads the clock that a text of an object had at a sequence number. Parameters: scope, object, sequence, name of the text.
    public static let currentText =
        "SELECT max(text_clock) FROM edits WHERE scope = ?1 AND object = ?2 AND sequence <= ?3 AND text_name IS ?4"

    // MARK: Writes

    /// Inserts an object. Parameters: scope, ID, section, type, sequence, size of the body in bytes, digest, body.
    public static let insertObject = """
        INSERT INTO objects (scope, id, section, type, sequence, bytes, digest, body)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
    /// Updates an object. The parameters are the same as those of ``insertObject``.
    public static let updateObject = """
        UPDATE objects SET section = ?3, type = ?4, sequence = ?5, bytes = ?6, digest = ?7, body = ?8
        WHERE scope = ?1 AND id = ?2
        """
    /// Deletes an object. Parameters: scope, ID.
    public static let deleteObject = "DELETE FROM objects WHERE scope = ?1 AND id = ?2"
    /// Inserts or updates a DeletedObject. Parameters: scope, ID, type, `merged_into`, deletion date, sequence, size of the body in
    /// bytes, device that deleted it, date of arrival. If the object was merged into another object, `merged_into` is the ID of
    /// that object. Otherwise it is NULL.
    public static let putTombstone = """
        INSERT INTO tombstones (scope, id, type, merged_into, deletion_date, sequence, bytes, deleted_by, arrival_date)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT (scope, id) DO UPDATE SET merged_into = ?4, deletion_date = ?5, sequence = ?6, bytes = ?7
        """
    /// Records that an object holds a tag or attachment. Parameters: scope, ID of the tag or attachment, object.
    public static let insertMember = "INSERT OR IGNORE INTO members (scope, member, object) VALUES (?1, ?2, ?3)"
    /// Records that an object no longer holds a tag or attachment. Parameters: scope, ID of the tag or attachment, object.
    public static let deleteMember = "DELETE FROM members WHERE scope = ?1 AND member = ?2 AND object = ?3"
    /// Updates `unheld_since`, the date since which no object has held an attachment. If an object holds the attachment, the date
    /// becomes NULL. Otherwise, if the date is NULL, it becomes the current date. Parameters: scope, attachment, current date.
    public static let noteHolder = """
        UPDATE blobs SET unheld_since = CASE
            WHEN EXISTS (SELECT 1 FROM members WHERE scope = ?1 AND member = ?2) THEN NULL
            ELSE coalesce(unheld_since, ?3) END
        WHERE scope = ?1 AND attachment = ?2
        """
    /// Schedules a sweep of an object, unless one is due earlier. Parameters: scope, object, date of the sweep.
    public static let scheduleSweep = """
        INSERT INTO sweeps (scope, object, due_date) VALUES (?1, ?2, ?3)
        ON CONFLICT (scope, object) DO UPDATE SET due_date = ?3 WHERE due_date IS NULL OR due_date > ?3
        """
    /// Records that a tag has a name. Parameters: scope, folded name, tag.
    public static let claimTagName = "INSERT INTO tag_names (scope, folded_name, tag) VALUES (?1, ?2, ?3)"
    /// Deletes the record that a tag has this name, so that another tag can use it. Parameters: scope, folded name, tag.
    public static let releaseTagName = "DELETE FROM tag_names WHERE scope = ?1 AND folded_name = ?2 AND tag = ?3"
    /// Inserts a parcel. Parameters: scope, object, sequence, device, date of the push, type of the object, whether the server
    /// made the parcel, first clock, last clock, text clock, text origin, body, whether its text lost words in a merge,
    /// ``Parcel/missingAncestors``, checksum, name of the text.
    public static let insertParcel = """
        INSERT INTO edits (scope, object, sequence, pushed_by, pushed_at, type, is_servers, first_clock, last_clock,
            text_clock, text_origin, body, has_lost_words, missing_ancestors, checksum, text_name)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
        """
    /// Records that a stored text lost words in a merge. Parameters: scope, object, clock of the text, name of the text.
    public static let markLostWords = """
        UPDATE edits SET has_lost_words = 1, checksum = checksum + \(ParcelChecksum.lostWords)
        WHERE scope = ?1 AND object = ?2 AND last_clock >= ?3 AND text_clock = ?3 AND text_name IS ?4
            AND has_lost_words = 0
        """
    /// Updates the row of a scope after a push. Parameters: scope, sequence, digest, greatest clock, server clock, total size of
    /// the inserted parcels in bytes.
    public static let advance = """
        UPDATE scopes SET sequence = ?2, digest = ?3, greatest_clock = ?4, server_clock = ?5,
            parcel_bytes = parcel_bytes + ?6
        WHERE id = ?1
        """
}
