/// A table that is copied when an installation moves to another database, with the columns that the table has in all databases.
/// Rows are copied unchanged, so that sequence numbers, clocks, digests and tokens remain valid.
public struct MovedTable: Sendable {
    /// The kind of value in a column. Each database maps it to one of its own column types.
    public enum Kind: Sendable {
        case integer
        /// An integer of at most two bytes.
        case small
        case bool
        /// Milliseconds since 1970.
        case date
        /// Text in UTF-8.
        case text
        /// A hash, or the big-endian form of an ID, a clock, a node or a digest.
        case bytes
    }

    public struct Column: Sendable {
        public let name: String
        public let kind: Kind
    }

    public let name: String
    /// The columns, beginning with the columns of the primary key. In a table whose rows belong to a scope, the first column is
    /// the ID of the scope.
    public let columns: [Column]
    /// The column by which the rows are sorted when they are read; nil if their order does not matter. If the target numbers its
    /// rows, it numbers them in this order.
    public let order: String?

    init(_ name: String, order: String? = nil, _ columns: KeyValuePairs<String, Kind>) {
        self.name = name
        self.order = order
        self.columns = columns.map { Column(name: $0.key, kind: $0.value) }
    }

    /// The names of all columns, as a list for an SQL statement.
    public var list: String { columns.map(\.name).joined(separator: ", ") }
    /// The column that contains the ID of the scope. It exists only in tables whose rows belong to a scope.
    public var scope: String { columns[0].name }
}

extension MovedTable {
    /// The tables whose rows belong to a scope. The term index is not included, because the target rebuilds it. Uploads are not
    /// moved.
    public static let ofScopes = [
        scopes, objects, edits, tombstones, members, tagNames, blobs, sweeps, versions, revocations,
        idempotencyKeys, webhooks, webhookDeliveries,
    ]
    /// The tables whose rows belong to the whole installation, in an order in which rows can be inserted without violating
    /// foreign keys.
    public static let shared = [accounts, memberships, devices, tickets, removedBlobs, blobStore, unknownBlobs]

    private static let scopes = MovedTable(
        "scopes",
        [
            "id": .integer, "sequence": .integer, "digest": .bytes, "greatest_clock": .bytes, "server_clock": .bytes,
            "parcel_bytes": .integer, "blob_bytes": .integer, "quota": .integer, "has_revocations": .bool,
            "restored_sequence": .integer,
        ])
    private static let objects = MovedTable(
        "objects",
        [
            "scope": .integer, "id": .bytes, "section": .small, "type": .text, "sequence": .integer, "bytes": .integer,
            "digest": .bytes, "body": .text,
        ])
    private static let edits = MovedTable(
        "edits",
        [
            "scope": .integer, "number": .integer, "object": .bytes, "sequence": .integer, "pushed_by": .bytes,
            "pushed_at": .date, "type": .text, "is_servers": .bool, "has_lost_words": .bool, "first_clock": .bytes,
            "last_clock": .bytes, "text_clock": .bytes, "text_origin": .bytes, "missing_ancestors": .bytes,
            "checksum": .integer, "text_name": .text, "body": .text,
        ])
    private static let tombstones = MovedTable(
        "tombstones",
        [
            "scope": .integer, "id": .bytes, "type": .text, "merged_into": .bytes, "deletion_date": .date,
            "arrival_date": .date, "sequence": .integer, "bytes": .integer, "deleted_by": .bytes,
        ])
    private static let members = MovedTable("members", ["scope": .integer, "member": .bytes, "object": .bytes])
    private static let tagNames = MovedTable("tag_names", ["scope": .integer, "folded_name": .text, "tag": .bytes])
    private static let blobs = MovedTable(
        "blobs", order: "number",
        [
            "scope": .integer, "attachment": .bytes, "nonce": .integer, "byte_count": .integer, "sha256": .text,
            "arrival_date": .date, "unheld_since": .date,
        ])
    private static let sweeps = MovedTable(
        "sweeps", ["scope": .integer, "object": .bytes, "due_date": .date, "looked_at": .integer])
    private static let versions = MovedTable(
        "versions",
        [
            "scope": .integer, "object": .bytes, "edit": .integer, "attribute": .text, "clock": .bytes,
            "pushed_at": .date, "sequence": .integer,
        ])
    private static let revocations = MovedTable(
        "revocations",
        [
            "scope": .integer, "node": .bytes, "name": .text, "requested_by": .bytes, "request_date": .date,
            "moment": .date, "pass": .small, "sequence": .integer, "finish_date": .date, "put_back": .integer,
            "deleted": .integer, "older": .integer, "kept": .integer,
        ])

    private static let idempotencyKeys = MovedTable(
        "idempotency_keys",
        [
            "scope": .integer, "key_hash": .bytes, "body_hash": .bytes, "object": .bytes, "is_creation": .bool,
            "creation_date": .date, "number": .integer,
        ])

    private static let webhooks = MovedTable(
        "webhooks",
        [
            "scope": .integer, "id": .bytes, "url": .text, "events": .text, "tag": .bytes, "secret": .bytes,
            "creation_date": .date, "epoch": .integer, "pause_reason": .text, "sequence": .integer,
            "announced_sequence": .integer, "failures": .integer, "first_failure_date": .date,
            "next_attempt_date": .date,
        ])
    private static let webhookDeliveries = MovedTable(
        "webhook_deliveries",
        [
            "scope": .integer, "webhook": .bytes, "number": .integer, "message": .text, "type": .text,
            "object": .bytes, "sequence": .integer, "date": .date, "attempts": .integer, "last_attempt_date": .date,
            "status": .integer, "error": .text,
        ])

    private static let accounts = MovedTable(
        "accounts",
        [
            "id": .bytes, "email": .text, "email_key": .text, "password_hash": .text, "creation_date": .date,
            "email_verification_date": .date, "disabled_since": .date,
        ])
    private static let memberships = MovedTable("memberships", ["account": .bytes, "scope": .integer])
    private static let devices = MovedTable(
        "devices", order: "number",
        [
            "node": .bytes, "account": .bytes, "token": .bytes, "name": .text, "app_version": .text,
            "user_agent": .text, "creation_date": .date, "last_use_date": .date, "read_sequence": .integer,
            "read_date": .date, "last_use_address": .text, "token_scopes": .text, "token_expiry_date": .date,
            "token_tag": .bytes,
        ])
    private static let tickets = MovedTable(
        "tickets", ["token": .bytes, "purpose": .text, "account": .bytes, "email": .text, "end_date": .date])
    private static let removedBlobs = MovedTable(
        "removed_blobs", ["scope": .integer, "attachment": .bytes, "nonce": .integer])
    private static let blobStore = MovedTable(
        "blob_store",
        [
            "current_nonce": .integer, "next_nonce": .integer, "walk_date": .date, "files": .integer, "bytes": .integer,
            "unknown_files": .integer, "unknown_bytes": .integer, "accepted_unknown": .integer,
        ])
    private static let unknownBlobs = MovedTable(
        "unknown_blobs", ["scope": .integer, "attachment": .bytes, "nonce": .integer, "first_seen": .date])
}
