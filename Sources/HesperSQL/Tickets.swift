import HesperModel
import HesperStore

extension SQLSnapshot {
    public func ticket(_ token: TokenHash) throws -> Ticket? {
        try sql.first("SELECT purpose, account, email, end_date FROM tickets WHERE token = $1", [.token(token)]) {
            row in
            // A ticket with an unknown purpose was created by a later version and is ignored.
            Ticket.Purpose(rawValue: row.string(0)).map {
                Ticket($0, account: row.idIfAny(1), email: row.stringIfAny(2), endDate: row.timestamp(3))
            }
        }
    }
}

extension SQLTransaction {
    public func insert(_ ticket: Ticket, token: TokenHash) throws {
        try sql.enqueue(
            "INSERT INTO tickets (token, purpose, account, email, end_date) VALUES ($1, $2, $3, $4, $5)",
            [
                .token(token), .text(ticket.purpose.rawValue), .id(ticket.account), .text(ticket.email),
                .date(ticket.endDate),
            ], expecting: 1)
    }

    public func deleteTicket(_ token: TokenHash) throws -> Bool {
        try sql.run("DELETE FROM tickets WHERE token = $1", [.token(token)]) > 0
    }

    public func deleteTickets(for purpose: Ticket.Purpose, of account: UniqueID) throws {
        try sql.enqueue(
            "DELETE FROM tickets WHERE account = $1 AND purpose = $2", [.id(account), .text(purpose.rawValue)])
    }

    public func deleteTickets(endedBy date: Timestamp) throws {
        try sql.enqueue("DELETE FROM tickets WHERE end_date <= $1", [.date(date)])
    }
}
