import HesperStore

/// The SQL statements that a push runs, except BEGIN, COMMIT and ``MergeStatements``. The parameters of a write are arrays with an
/// element for each row. So a push of 500 notes takes as many statements as a push of one note, and several pushes in one
/// transaction often take as many as one push (``PendingRows``).
enum PushStatements {
    // MARK: Reads

    /// Locks and reads the rows of scopes, in ascending order of their IDs. The rows stay locked until the transaction ends, but other
    /// transactions can insert rows that reference them. Parameter: array of scopes.
    static let lock = """
        SELECT sequence, digest, greatest_clock, server_clock, last_edit, has_revocations, restored_sequence,
            parcel_bytes, blob_bytes, quota, id
        FROM scopes WHERE id = ANY ($1)
        ORDER BY id FOR NO KEY UPDATE
        """
    /// Reads the states of objects. Parameters: arrays of scopes and of IDs; maximum total size of the bodies in bytes. Bodies are
    /// returned until their total size would exceed this maximum. All remaining bodies are null. The columns are those of
    /// ``Row/state(of:)``, and the scope.
    ///
    /// Each ID is looked up with LATERAL. With `id = ANY ($2)`, PostgreSQL might read all objects of the scope instead: it assumes
    /// that `$2` contains ten IDs, and its estimate of the number of objects may be less than ten.
    static let states = """
        SELECT id, sequence, section, CASE WHEN sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) <= $3::bigint THEN body END,
            type, merged_into, deletion_date, wanted_scope
        FROM unnest($1::bigint[], $2::uuid[]) AS wanted (wanted_scope, wanted_id) CROSS JOIN LATERAL (
            SELECT id, sequence, section, body, bytes, NULL::text AS type, NULL::uuid AS merged_into,
                NULL::timestamptz AS deletion_date
            FROM objects WHERE scope = wanted_scope AND id = wanted_id
            UNION ALL
            SELECT id, sequence, NULL, NULL, 0::bigint, type, merged_into, deletion_date FROM tombstones
            WHERE scope = wanted_scope AND id = wanted_id) AS state
        """
    /// Finds the objects that hold a tag or attachment. Parameters: scope, ID of the tag or attachment.
    static let holders = "SELECT object FROM members WHERE scope = $1 AND member = $2 ORDER BY object"
    /// Reads four columns of the parcels of an object, newest first: last clock, text clock, `number`, name of the text.
    /// Parameters: scope, object, last clock of the previously read row, `number` of the previously read row, maximum number of
    /// rows.
    static let textClocks = """
        SELECT last_clock, text_clock, number, text_name FROM edits
        WHERE scope = $1 AND object = $2 AND (last_clock, number) < ($3, $4)
        ORDER BY last_clock DESC, number DESC LIMIT $5
        """
    /// Reads the clock that a text of an object had at a sequence number. It does not use max(), which PostgreSQL 15 does not
    /// support for `bytea`. Parameters: scope, object, sequence, name of the text.
    static let currentText = """
        SELECT text_clock FROM edits
        WHERE scope = $1 AND object = $2 AND text_clock IS NOT NULL AND sequence <= $3
            AND text_name IS NOT DISTINCT FROM $4
        ORDER BY text_clock DESC LIMIT 1
        """

    // MARK: Writes

    /// Inserts objects. Parameters: arrays of scopes, IDs, sections, types, sequences, sizes of the bodies in bytes, digests, bodies.
    static let insertObjects = """
        INSERT INTO objects (scope, id, section, type, sequence, bytes, digest, body)
        SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::json[])
        """
    /// Updates objects. The parameters are the same as those of ``insertObjects``.
    static let updateObjects = """
        UPDATE objects o
        SET section = n.section, type = n.type, sequence = n.sequence, bytes = n.bytes, digest = n.digest, body = n.body
        FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::json[])
            AS n (scope, id, section, type, sequence, bytes, digest, body)
        WHERE o.scope = n.scope AND o.id = n.id
        """
    /// Deletes objects. Parameters: scope, array of IDs.
    static let deleteObjects = "DELETE FROM objects WHERE scope = $1 AND id = ANY ($2)"
    /// Inserts or updates DeletedObjects. Parameters: scope; arrays of IDs, types, `merged_into`, deletion dates, sequences, sizes
    /// of the bodies in bytes; device that deleted them, date of arrival. If an object was merged into another object,
    /// `merged_into` is the ID of that object. Otherwise it is null.
    static let putTombstones = """
        INSERT INTO tombstones
            (scope, id, type, merged_into, deletion_date, sequence, bytes, deleted_by, arrival_date)
        SELECT $1::bigint, n.*, $8::bytea, $9::timestamptz
        FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::timestamptz[], $6::bigint[], $7::bigint[]) n
        ON CONFLICT (scope, id) DO UPDATE SET merged_into = excluded.merged_into,
            deletion_date = excluded.deletion_date, sequence = excluded.sequence, bytes = excluded.bytes
        """
    /// Records that objects hold tags or attachments. Parameters: scope; array of IDs of tags or attachments; array of IDs of the
    /// objects.
    static let insertMembers = """
        INSERT INTO members (scope, member, object) SELECT $1::bigint, n.* FROM unnest($2::uuid[], $3::uuid[]) n
        ON CONFLICT DO NOTHING
        """
    /// Records that objects no longer hold tags or attachments. The parameters are the same as those of ``insertMembers``.
    static let deleteMembers = """
        DELETE FROM members m USING unnest($2::uuid[], $3::uuid[]) AS n (member, object)
        WHERE m.scope = $1 AND m.member = n.member AND m.object = n.object
        """
    /// Records the names of tags. Parameters: scope; array of folded names; array of IDs of the tags.
    static let claimTagNames = """
        INSERT INTO tag_names (scope, folded_name, tag) SELECT $1::bigint, n.* FROM unnest($2::bytea[], $3::uuid[]) n
        """
    /// Deletes the recorded names of tags, so that other tags can use these names. The parameters are the same as those of
    /// ``claimTagNames``.
    static let releaseTagNames = """
        DELETE FROM tag_names t USING unnest($2::bytea[], $3::uuid[]) AS n (name, tag)
        WHERE t.scope = $1 AND t.folded_name = n.name AND t.tag = n.tag
        """
    /// For each of the attachments, updates the date since which no object has held the attachment, and schedules a sweep unless
    /// one is due earlier. The date is null if an object holds the attachment. Parameters: scope, array of attachments, current
    /// date, date of the sweeps.
    static let noteHolders = """
        WITH held AS (
            UPDATE blobs b SET unheld_since = CASE
                WHEN EXISTS (SELECT FROM members m WHERE m.scope = $1 AND m.member = b.attachment) THEN NULL
                ELSE coalesce(b.unheld_since, $3) END
            WHERE b.scope = $1 AND b.attachment = ANY ($2) RETURNING b.attachment)
        INSERT INTO sweeps (scope, object, due_date) SELECT $1::bigint, attachment, $4::timestamptz FROM held
        ON CONFLICT (scope, object) DO UPDATE SET due_date = excluded.due_date
        WHERE sweeps.due_date IS NULL OR sweeps.due_date > excluded.due_date
        """
    /// Schedules sweeps of objects, except those for which a sweep is due earlier. Parameters: arrays of scopes, objects and dates
    /// of the sweeps.
    static let scheduleSweeps = """
        INSERT INTO sweeps (scope, object, due_date) SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::timestamptz[])
        ON CONFLICT (scope, object) DO UPDATE SET due_date = excluded.due_date
        WHERE sweeps.due_date IS NULL OR sweeps.due_date > excluded.due_date
        """
    /// Deletes the blobs of attachments, and schedules the removal of their bytes from the blob store. Parameters: scope, array
    /// of attachments.
    static let removeBlobs = """
        WITH removed AS (
            DELETE FROM blobs WHERE scope = $1 AND attachment = ANY ($2) RETURNING attachment, nonce, byte_count),
        queued AS (INSERT INTO removed_blobs (scope, attachment, nonce) SELECT $1::bigint, attachment, nonce FROM removed)
        UPDATE scopes SET blob_bytes = blob_bytes - (SELECT coalesce(sum(byte_count), 0)::bigint FROM removed)
        WHERE id = $1 AND EXISTS (SELECT FROM removed)
        """
    /// Inserts parcels. Parameters: arrays with one element per parcel: its scope, number, object, sequence, type of the object,
    /// whether the server made it, whether its text lost words in a merge, first clock, last clock, text clock, text origin, body,
    /// ``Parcel/missingAncestors``, device, checksum, name of the text, date of the push.
    static let insertParcels = """
        INSERT INTO edits (scope, number, object, sequence, type, is_servers, has_lost_words, first_clock, last_clock,
            text_clock, text_origin, body, missing_ancestors, pushed_by, checksum, text_name, pushed_at)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::boolean[], $7::boolean[],
            $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::json[], $13::bytea[], $14::bytea[], $15::bigint[],
            $16::text[], $17::timestamptz[])
        """
    /// Records that stored texts lost words in a merge. Parameters: scope; arrays of objects, of the clocks of the texts, and of
    /// their names.
    static let markLostWords = """
        UPDATE edits e SET has_lost_words = true, checksum = checksum + \(ParcelChecksum.lostWords)
        FROM unnest($2::uuid[], $3::bytea[], $4::text[]) AS n (object, clock, name)
        WHERE e.scope = $1 AND e.object = n.object AND e.last_clock >= n.clock AND e.text_clock = n.clock
            AND e.text_name IS NOT DISTINCT FROM n.name AND NOT e.has_lost_words
        """
    /// Updates the rows of scopes after pushes. Parameters: arrays with one element per scope: the scope, its sequence, digest,
    /// greatest clock, server clock, `number` of its most recent parcel, total size of the inserted parcels in bytes.
    static let advance = """
        UPDATE scopes s
        SET sequence = n.sequence, digest = n.digest, greatest_clock = n.greatest_clock, server_clock = n.server_clock,
            last_edit = n.last_edit, is_behind = s.is_behind OR s.sequence < n.sequence,
            parcel_bytes = s.parcel_bytes + n.parcel_bytes
        FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[])
            AS n (scope, sequence, digest, greatest_clock, server_clock, last_edit, parcel_bytes)
        WHERE s.id = n.scope
        """
}
