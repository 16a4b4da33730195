import HesperModel
import HesperStore

extension PostgresSnapshot {
    /// If the last device of the page before is gone by now, the list begins again: nothing is passed over.
    func devices(of account: UniqueID, after cursor: NodeID?, limit: Int) throws -> [Device] {
        try connection.all(
            """
            SELECT node, account, name, app_version, user_agent, creation_date, last_use_date, read_date,
                last_use_address
            FROM devices
            WHERE account = $1 AND number <
                coalesce((SELECT number FROM devices WHERE node = $2::bytea AND account = $1), 9223372036854775807)
            ORDER BY number DESC LIMIT $3
            """, [.id(account), .node(cursor), .int(max(limit, 0))]
        ) { try $0.device() }
    }
}

extension PostgresSnapshot {
    func device(_ node: NodeID, of account: UniqueID) throws -> Device? {
        try connection.first(
            """
            SELECT node, account, name, app_version, user_agent, creation_date, last_use_date, read_date,
                last_use_address
            FROM devices WHERE node = $1 AND account = $2
            """, [.node(node), .id(account)]
        ) { try $0.device() }
    }
}

extension PostgresTransaction {
    func insert(_ device: Device, token: TokenHash) throws {
        connection.enqueue(
            """
            INSERT INTO devices (node, account, token, name, app_version, user_agent, creation_date, last_use_date,
                last_use_address)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .node(device.node), .id(device.account), .token(token), .text(device.name), .text(device.appVersion),
                .text(device.userAgent), .date(device.creationDate), .date(device.lastUseDate),
                .text(device.lastUseAddress),
            ], expecting: 1)
    }

    func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool {
        try connection.run("DELETE FROM devices WHERE node = $1 AND account = $2", [.node(node), .id(account)]) > 0
    }

    func deleteDevices(of account: UniqueID, except node: NodeID?) throws {
        connection.enqueue(
            "DELETE FROM devices WHERE account = $1 AND node IS DISTINCT FROM $2::bytea", [.id(account), .node(node)])
    }

    /// What is nil stays as it was.
    func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws {
        connection.enqueue(
            """
            UPDATE devices SET last_use_date = $2, app_version = coalesce($3, app_version),
                user_agent = coalesce($4, user_agent), read_sequence = coalesce($5, read_sequence),
                read_date = CASE WHEN $5::bigint IS NULL THEN read_date ELSE $2 END,
                last_use_address = coalesce($6, last_use_address)
            WHERE node = $1
            """, [.node(node), .date(date), .text(appVersion), .text(userAgent), .int8(readSequence), .text(address)])
    }
}
