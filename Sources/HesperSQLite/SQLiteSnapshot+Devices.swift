import HesperModel
import HesperStore

extension SQLiteSnapshot {
    /// If the last device of the page before is gone by now, the list begins again: nothing is passed over.
    func devices(of account: UniqueID, after cursor: NodeID?, limit: Int) throws -> [Device] {
        let row = try prepare(
            """
            SELECT node, account, name, app_version, user_agent, creation_date, last_use_date, read_date,
                last_use_address
            FROM devices
            WHERE account = ?1
                AND number < coalesce((SELECT number FROM devices WHERE node = ?2 AND account = ?1), 9223372036854775807)
            ORDER BY number DESC LIMIT ?3
            """)
        row.bind(1, account)
        row.bind(2, cursor)
        row.bind(3, max(limit, 0))
        return try row.all { try row.device() }
    }
}

extension SQLiteSnapshot {
    func device(_ node: NodeID, of account: UniqueID) throws -> Device? {
        let row = try prepare(
            """
            SELECT node, account, name, app_version, user_agent, creation_date, last_use_date, read_date,
                last_use_address
            FROM devices WHERE node = ?1 AND account = ?2
            """)
        row.bind(1, node)
        row.bind(2, account)
        return try row.first { try row.device() }
    }
}

extension SQLiteTransaction {
    func insert(_ device: Device, token: TokenHash) throws {
        let insert = try prepare(
            """
            INSERT INTO devices (node, account, token, name, app_version, user_agent, creation_date, last_use_date,
                last_use_address)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        insert.bind(1, device.node)
        insert.bind(2, device.account)
        insert.bind(3, token)
        insert.bind(4, device.name)
        insert.bind(5, device.appVersion)
        insert.bind(6, device.userAgent)
        insert.bind(7, device.creationDate)
        insert.bind(8, device.lastUseDate)
        insert.bind(9, device.lastUseAddress)
        try insert.run()
    }

    func deleteDevice(_ node: NodeID, of account: UniqueID) throws -> Bool {
        let delete = try prepare("DELETE FROM devices WHERE node = ? AND account = ?")
        delete.bind(1, node)
        delete.bind(2, account)
        return try delete.run() > 0
    }

    func deleteDevices(of account: UniqueID, except node: NodeID?) throws {
        let delete = try prepare("DELETE FROM devices WHERE account = ?1 AND node IS NOT ?2")
        delete.bind(1, account)
        delete.bind(2, node)
        try delete.run()
    }

    /// What is nil stays as it was.
    func recordUse(
        of node: NodeID, at date: Timestamp, appVersion: String?, userAgent: String?, address: String?,
        readSequence: Int64?
    ) throws {
        let update = try prepare(
            """
            UPDATE devices SET last_use_date = ?2, app_version = coalesce(?3, app_version),
                user_agent = coalesce(?4, user_agent), read_sequence = coalesce(?5, read_sequence),
                read_date = CASE WHEN ?5 IS NULL THEN read_date ELSE ?2 END,
                last_use_address = coalesce(?6, last_use_address)
            WHERE node = ?1
            """)
        update.bind(1, node)
        update.bind(2, date)
        update.bind(3, appVersion)
        update.bind(4, userAgent)
        update.bind(5, readSequence)
        update.bind(6, address)
        try update.run()
    }
}
