/// The queries of merges, which are the same for all SQL databases. The code for each database binds the parameters directly, in
/// the order `$1`, `$2` and so on, because a call through ``SQLConnection`` would be slower.
public enum MergeStatements {
    /// Finds the live tag with a given folded name. The parameters are the scope and the folded name.
    public static let tagNamed = "SELECT tag FROM tag_names WHERE scope = $1 AND folded_name = $2"
    /// Finds the parcels of an object that may contain an edit with a given clock. The parameters are the scope, the object and
    /// the clock.
    public static let parcelsHolding = """
        SELECT type, is_servers, text_origin, body, number FROM edits
        WHERE scope = $1 AND object = $2 AND last_clock >= $3 AND first_clock <= $3
        """
    /// Finds parcels of a deleted object whose words were rescued into a new object: the parcels that arrived before the rescue and
    /// may contain an edit with a given clock. The parameters are the scope, the new object and the clock.
    ///
    /// The new object's first parcel without a device was stored by the rescue, so the sequence number of this parcel is the
    /// sequence number of the rescue. The sequence number of the DeletedObject may be greater, because a DeletedObject can
    /// change after the rescue, for example when an earlier deletion arrives.
    public static let rescuedParcels = """
        SELECT e.type, e.is_servers, e.text_origin, e.body, e.object
        FROM tombstones t JOIN edits e ON e.scope = t.scope AND e.object = t.id
        WHERE t.scope = $1 AND t.merged_into = $2 AND e.scope = $1 AND e.sequence < t.sequence
            AND e.last_clock >= $3 AND e.first_clock <= $3
            AND e.sequence < coalesce(
                (SELECT min(r.sequence) FROM edits r WHERE r.scope = $1 AND r.object = $2 AND r.pushed_by IS NULL),
                t.sequence)
        """
    /// Finds the texts of an object that have missing ancestors (``Parcel/missingAncestors``). The parameters are the scope and the
    /// object.
    public static let textDescents = """
        SELECT text_clock, missing_ancestors, sequence, text_name FROM edits
        WHERE scope = $1 AND object = $2 AND missing_ancestors IS NOT NULL
        """
}
