import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func ticket(_ token: TokenHash) throws -> Ticket? {
        let row = try prepare("SELECT purpose, account, email, end_date FROM tickets WHERE token = ?")
        row.bind(1, token)
        return try row.first {
            // One that a later version made is none here.
            Ticket.Purpose(rawValue: row.string(0)).map {
                Ticket($0, account: row.idIfAny(1), email: row.stringIfAny(2), endDate: row.timestamp(3))
            }
        }
    }
}

extension SQLiteTransaction {
    func insert(_ ticket: Ticket, token: TokenHash) throws {
        let insert = try prepare(
            "INSERT INTO tickets (token, purpose, account, email, end_date) VALUES (?, ?, ?, ?, ?)")
        insert.bind(1, token)
        insert.bind(2, ticket.purpose.rawValue)
        insert.bind(3, ticket.account)
        insert.bind(4, ticket.email)
        insert.bind(5, ticket.endDate)
        try insert.run()
    }

    func deleteTicket(_ token: TokenHash) throws -> Bool {
        let delete = try prepare("DELETE FROM tickets WHERE token = ?")
        delete.bind(1, token)
        return try delete.run() > 0
    }

    func deleteTickets(for purpose: Ticket.Purpose, of account: UniqueID) throws {
        let delete = try prepare("DELETE FROM tickets WHERE account = ? AND purpose = ?")
        delete.bind(1, account)
        delete.bind(2, purpose.rawValue)
        try delete.run()
    }

    func deleteTickets(endedBy date: Timestamp) throws {
        let delete = try prepare("DELETE FROM tickets WHERE end_date <= ?")
        delete.bind(1, date)
        try delete.run()
    }
}
