import HesperModel
import HesperStore

/// The SELECT and FROM clauses of a query for devices. ``StoredRow/device()`` decodes its rows.
private let columns = """
    SELECT node, account, name, app_version, user_agent, creation_date, last_use_date, read_date, last_use_address,
        token_scopes, token_expiry_date, token_tag
    FROM devices
    """

extension SQLSnapshot {
    /// Returns a page of an account's devices and access tokens, the most recently created first. If the device at `cursor` no
    /// longer exists, returns the first page again, so that no device is skipped.
    /// - Parameter tokens: true for access tokens only, false for devices only, nil for both.
    public func devices(of account: UniqueID, tokens: Bool?, after cursor: NodeID?, limit: Int) throws -> [Device] {
        try sql.all(
            """
            \(columns)
            WHERE account = $1
                AND number < coalesce((SELECT number FROM devices WHERE node = $2 AND account = $1), 9223372036854775807)
                AND coalesce((token_scopes IS NOT NULL) = $3, true)
            ORDER BY number DESC LIMIT $4
            """, [.id(account), .node(cursor), tokens.map { .bool($0) } ?? .null, .limit(limit)]
        ) { try $0.device() }
    }

    public func device(_ node: NodeID, of account: UniqueID) throws -> Device? {
        try sql.first("\(columns) WHERE node = $1 AND account = $2", [.node(node), .id(account)]) { try $0.device() }
    }
}

extension SQLTransaction {
    public func insert(_ device: Device, token: TokenHash) throws {
        try sql.enqueue(
            """
            INSERT INTO devices (node, account, token, name, app_version, user_agent, creation_date, last_use_date,
                last_use_address, token_scopes, token_expiry_date, token_tag)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """,
            [
                .node(device.node), .id(device.account), .token(token), .text(device.name), .text(device.appVersion),
                .text(device.userAgent), .date(device.creationDate), .date(device.lastUseDate),
                .text(device.lastUseAddress), .text(device.access?.scopeNames), .date(device.access?.expiryDate),
                .id(device.access?.tag),
            ], expecting: 1)
    }

    public func rename(_ node: NodeID, of account: UniqueID, to name: String) throws -> Device? {
        try sql.enqueue(
            "UPDATE devices SET name = $3 WHERE node = $1 AND account = $2", [.node(node), .id(account), .text(name)])
        return try device(node, of: account)
    }

    public func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool {
        try sql.run("DELETE FROM devices WHERE node = $1 AND account = $2", [.node(node), .id(account)]) > 0
    }

    public func deleteDevices(of account: UniqueID, except node: NodeID?) throws {
        try sql.enqueue(
            "DELETE FROM devices WHERE account = $1 AND node IS DISTINCT FROM $2", [.id(account), .node(node)])
    }

    public func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws {
        try sql.enqueue(
            """
            UPDATE devices SET last_use_date = $2, app_version = coalesce($3, app_version),
                user_agent = coalesce($4, user_agent), read_sequence = coalesce($5, read_sequence),
                read_date = CASE WHEN $5 IS NULL THEN read_date ELSE $2 END,
                last_use_address = coalesce($6, last_use_address)
            WHERE node = $1
            """,
            [.node(node), .date(date), .text(appVersion), .text(userAgent), .integer(readSequence), .text(address)])
    }
}
