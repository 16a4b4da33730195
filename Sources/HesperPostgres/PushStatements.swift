import HesperStore

/// The statements of a push, except BEGIN, COMMIT and ``MergeStatements``. Each concerns one scope. Results of a merge are
/// written as arrays, so a push of 500 notes takes as many statements as a push of one note.
enum PushStatements {
    // MARK: Reads

    /// Scope. The row stays locked until the transaction ends. Inserting rows that reference it does not wait.
    static let lock = """
        SELECT sequence, digest, greatest_clock, server_clock, last_edit, has_revocations, restored_sequence,
            parcel_bytes, blob_bytes, quota
        FROM scopes WHERE id = $1
        FOR NO KEY UPDATE
        """
    /// Scope, IDs, maximum total bytes of bodies: bodies beyond it are null. Columns of ``Row/state(of:)``. Each ID is looked
    /// up with LATERAL: for `id = ANY ($2)` the planner assumes ten elements, and would read a whole scope if it estimated that
    /// to be smaller.
    static let states = """
        SELECT id, sequence, section, CASE WHEN sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) <= $3::bigint THEN body END,
            type, merged_into, deletion_date
        FROM unnest($2::uuid[]) AS wanted (wanted_id) CROSS JOIN LATERAL (
            SELECT id, sequence, section, body, bytes, NULL::text AS type, NULL::uuid AS merged_into,
                NULL::timestamptz AS deletion_date
            FROM objects WHERE scope = $1 AND id = wanted_id
            UNION ALL
            SELECT id, sequence, NULL, NULL, 0::bigint, type, merged_into, deletion_date FROM tombstones
            WHERE scope = $1 AND id = wanted_id) AS state
        """
    /// Scope, member.
    static let holders = "SELECT object FROM members WHERE scope = $1 AND member = $2 ORDER BY object"
    /// Scope, object, clock and number to start below, limit.
    static let textClocks = """
        SELECT last_clock, text_clock, number FROM edits
        WHERE scope = $1 AND object = $2 AND (last_clock, number) < ($3, $4)
        ORDER BY last_clock DESC, number DESC LIMIT $5
        """
    /// Scope, object, sequence. Not with max(), which PostgreSQL 15 does not have for `bytea`.
    static let currentText = """
        SELECT text_clock FROM edits
        WHERE scope = $1 AND object = $2 AND text_clock IS NOT NULL AND sequence <= $3
        ORDER BY text_clock DESC LIMIT 1
        """

    // MARK: Writes

    /// Scope; IDs, sections, types, sequences, bytes, digests, bodies.
    static let insertObjects = """
        INSERT INTO objects (scope, id, section, type, sequence, bytes, digest, body)
        SELECT $1::bigint, n.* FROM unnest($2::uuid[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::json[]) n
        """
    /// The parameters of ``insertObjects``.
    static let updateObjects = """
        UPDATE objects o
        SET section = n.section, type = n.type, sequence = n.sequence, bytes = n.bytes, digest = n.digest, body = n.body
        FROM unnest($2::uuid[], $3::int[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[], $8::json[])
            AS n (id, section, type, sequence, bytes, digest, body)
        WHERE o.scope = $1 AND o.id = n.id
        """
    /// Scope, IDs.
    static let deleteObjects = "DELETE FROM objects WHERE scope = $1 AND id = ANY ($2)"
    /// Scope; IDs, types, targets, dates, sequences, bytes; device, date of arrival.
    static let putTombstones = """
        INSERT INTO tombstones
            (scope, id, type, merged_into, deletion_date, sequence, bytes, deleted_by, arrival_date)
        SELECT $1::bigint, n.*, $8::bytea, $9::timestamptz
        FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::timestamptz[], $6::bigint[], $7::bigint[]) n
        ON CONFLICT (scope, id) DO UPDATE SET merged_into = excluded.merged_into,
            deletion_date = excluded.deletion_date, sequence = excluded.sequence, bytes = excluded.bytes
        """
    /// Scope; members, notes.
    static let insertMembers = """
        INSERT INTO members (scope, member, object) SELECT $1::bigint, n.* FROM unnest($2::uuid[], $3::uuid[]) n
        ON CONFLICT DO NOTHING
        """
    /// The parameters of ``insertMembers``.
    static let deleteMembers = """
        DELETE FROM members m USING unnest($2::uuid[], $3::uuid[]) AS n (member, object)
        WHERE m.scope = $1 AND m.member = n.member AND m.object = n.object
        """
    /// Scope; folded names, tags.
    static let claimTagNames = """
        INSERT INTO tag_names (scope, folded_name, tag) SELECT $1::bigint, n.* FROM unnest($2::bytea[], $3::uuid[]) n
        """
    /// The parameters of ``claimTagNames``.
    static let releaseTagNames = """
        DELETE FROM tag_names t USING unnest($2::bytea[], $3::uuid[]) AS n (name, tag)
        WHERE t.scope = $1 AND t.folded_name = n.name AND t.tag = n.tag
        """
    /// Scope; attachments; date, date of the first sweep.
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
    /// Scope; objects; date.
    static let scheduleSweeps = """
        INSERT INTO sweeps (scope, object, due_date) SELECT $1::bigint, n, $3::timestamptz FROM unnest($2::uuid[]) n
        ON CONFLICT (scope, object) DO UPDATE SET due_date = excluded.due_date
        WHERE sweeps.due_date IS NULL OR sweeps.due_date > excluded.due_date
        """
    /// Scope; attachments.
    static let removeBlobs = """
        WITH removed AS (
            DELETE FROM blobs WHERE scope = $1 AND attachment = ANY ($2) RETURNING attachment, nonce, byte_count),
        queued AS (INSERT INTO removed_blobs (scope, attachment, nonce) SELECT $1::bigint, attachment, nonce FROM removed)
        UPDATE scopes SET blob_bytes = blob_bytes - (SELECT coalesce(sum(byte_count), 0)::bigint FROM removed)
        WHERE id = $1 AND EXISTS (SELECT FROM removed)
        """
    /// Scope; numbers, objects, sequences, types, whether each was made by the server, whether its text lost words, first
    /// clocks, last clocks, text clocks, text origins, bodies, clocks of missing ancestors, devices, checksums; date.
    static let insertParcels = """
        INSERT INTO edits (scope, number, object, sequence, type, is_servers, has_lost_words, first_clock, last_clock,
            text_clock, text_origin, body, missing_ancestors, pushed_by, checksum, pushed_at)
        SELECT $1::bigint, n.*, $16::timestamptz
        FROM unnest($2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::boolean[], $7::boolean[], $8::bytea[],
            $9::bytea[], $10::bytea[], $11::bytea[], $12::json[], $13::bytea[], $14::bytea[], $15::bigint[]) n
        """
    /// Scope; objects, clocks of their texts.
    static let markLostWords = """
        UPDATE edits e SET has_lost_words = true, checksum = checksum + \(ParcelChecksum.lostWords)
        FROM unnest($2::uuid[], $3::bytea[]) AS n (object, clock)
        WHERE e.scope = $1 AND e.object = n.object AND e.last_clock >= n.clock AND e.text_clock = n.clock
            AND NOT e.has_lost_words
        """
    /// Scope, sequence, digest, greatest clock, server clock, number of the last parcel, bytes of the inserted parcels.
    static let advance = """
        UPDATE scopes SET sequence = $2, digest = $3, greatest_clock = $4, server_clock = $5, last_edit = $6,
            is_behind = is_behind OR sequence < $2, parcel_bytes = parcel_bytes + $7
        WHERE id = $1
        """
}
