import HesperModel
import HesperStore

extension StoreContract {
    private static let (now, later) = (Client.date(0), Client.date(1_000))

    static let ticketCases: [Case] = [
        Case("a ticket is stored unchanged and visible to other processes") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let reset = Ticket(.passwordReset, account: client.account.uniqueID, endDate: later)
            let (token, others) = (Client.token(), Client.token())
            let invitation = Ticket(.invitation, email: "Bob+1@example.com", endDate: later)
            try await client.store.write { transaction in
                try transaction.issue(reset, token: token, at: now)
                try transaction.issue(invitation, token: others, at: now)
            }
            let reopened = try await subject.open()
            try expect(try await reopened.read { try $0.ticket(token) }, is: reset)
            try expect(try await reopened.read { try $0.ticket(others) }, is: invitation)
            try expect(try await reopened.read { try $0.ticket(Client.token()) }, is: nil)
        },
        Case("a ticket can be used for its purpose, until its end, by one of several concurrent users") {
            (client: Client) in
            let token = Client.token()
            let ticket = Ticket(.passwordReset, account: client.account.uniqueID, endDate: later)
            try await client.store.write { try $0.issue(ticket, token: token, at: now) }
            let use: @Sendable (Ticket.Purpose, Timestamp) async throws -> Ticket? = { purpose, date in
                try await client.store.write { try $0.useTicket(token, for: purpose, at: date) }
            }
            try expect(try await use(.invitation, now), is: nil)
            try expect(try await use(.passwordReset, later), is: nil)
            let uses = try await withThrowingTaskGroup(of: Ticket?.self) { group in
                for _ in 0..<8 { group.addTask { try await use(.passwordReset, Client.date(999)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expect(uses.compactMap { $0 }, is: [ticket])
            try expect(try await client.read { try $0.ticket(token) }, is: nil)
        },
        Case("rolling back a transaction undoes the use of a ticket") { (client: Client) in
            let token = Client.token()
            let ticket = Ticket(.invitation, endDate: later)
            try await client.store.write { try $0.issue(ticket, token: token, at: now) }
            do {
                try await client.store.write { transaction in
                    try expect(try transaction.useTicket(token, for: .invitation, at: now), is: ticket)
                    throw Deliberate()
                }
            } catch is Deliberate {}
            try expect(try await client.read { try $0.ticket(token) }, is: ticket)
        },
        Case("an account has one ticket per purpose, and expired tickets are deleted") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let tokens = (0..<5).map { _ in Client.token() }
            try await client.store.write { transaction in
                try transaction.issue(
                    Ticket(.passwordReset, account: client.account.uniqueID, endDate: later), token: tokens[0], at: now)
                try transaction.issue(
                    Ticket(.passwordReset, account: other.account.uniqueID, endDate: later), token: tokens[1], at: now)
                try transaction.issue(Ticket(.invitation, endDate: Client.date(500)), token: tokens[2], at: now)
                try transaction.issue(Ticket(.invitation, endDate: later), token: tokens[3], at: now)
            }
            try await client.store.write { transaction in
                try transaction.issue(
                    Ticket(.passwordReset, account: client.account.uniqueID, endDate: later), token: tokens[4],
                    at: Client.date(500))
            }
            let stored = try await client.read { snapshot in try tokens.map { try snapshot.ticket($0) != nil } }
            try expect(stored, is: [false, true, false, true, true])
        },
        Case(
            "a reset link from the operator remains valid beside those sent by e-mail, until the operator creates another"
        ) {
            (client: Client) in
            let tokens = (0..<5).map { _ in Client.token() }
            let issue: @Sendable (Ticket.Purpose, Int) async throws -> Void = { purpose, index in
                let ticket = Ticket(purpose, account: client.account.uniqueID, endDate: later)
                try await client.store.write { try $0.issue(ticket, token: tokens[index], at: now) }
            }
            let valid: @Sendable () async throws -> [Bool] = {
                try await client.read { snapshot in
                    try tokens.map { try snapshot.ticket($0, for: .passwordReset, at: now) != nil }
                }
            }
            try await issue(.emailVerification, 4)
            try await issue(.passwordReset, 0)
            try await issue(.mailedPasswordReset, 1)
            try await issue(.mailedPasswordReset, 2)
            try expect(try await valid(), is: [true, false, true, false, false])
            try await issue(.passwordReset, 3)
            try expect(try await valid(), is: [false, false, false, true, false])
            try await issue(.mailedPasswordReset, 2)
            try expect(try await valid(), is: [false, false, true, true, false])
            let used = try await client.store.write { transaction in
                let ticket = try transaction.useTicket(tokens[2], for: .passwordReset, at: now)
                try transaction.changePassword(to: "scrypt:1", of: client.account.uniqueID, signingOut: .none)
                return ticket
            }
            try expect(used?.purpose, is: .mailedPasswordReset)
            try expect(try await valid(), is: [false, false, false, false, false])
            try expect(try await client.read { try $0.ticket(tokens[4]) } != nil, "it has another purpose")
        },
        Case("a change of the password deletes password reset tickets and signs out devices") { (client: Client) in
            let (token, invitation, second) = (Client.token(), Client.token(), Client.token())
            let id = client.account.uniqueID
            let laptop = Client.device(of: id, name: "another")
            try await client.store.write { transaction in
                try transaction.insert(laptop, token: second)
                try transaction.issue(Ticket(.passwordReset, account: id, endDate: later), token: token, at: now)
                try transaction.issue(Ticket(.invitation, endDate: later), token: invitation, at: now)
                try transaction.changePassword(to: "scrypt:1", of: id, signingOut: .none)
            }
            try expect(try await client.read { try $0.ticket(token) }, is: nil)
            try expect(
                try await client.read { try $0.ticket(invitation) } != nil, "an invitation belongs to no account")
            try expect(try await client.store.session(of: client.token)?.device.node, is: client.device.node)
            try await client.store.write {
                try $0.changePassword(to: "scrypt:2", of: id, signingOut: .others(than: laptop.node))
            }
            try expect(try await client.store.session(of: client.token), is: nil)
            try expect(try await client.store.session(of: second)?.device.node, is: laptop.node)
            try await client.store.write { try $0.changePassword(to: "scrypt:3", of: id, signingOut: .all) }
            try expect(try await client.store.session(of: second), is: nil)
            try expect(try await client.read { try $0.account(id)?.passwordHash }, is: "scrypt:3")
        },
        Case("tickets are deleted with their account") { (client: Client) in
            let token = Client.token()
            let id = client.account.uniqueID
            try await client.store.write {
                try $0.issue(Ticket(.passwordReset, account: id, endDate: later), token: token, at: now)
            }
            try await client.store.write { try $0.deleteAccount(id) }
            try expect(try await client.read { try $0.ticket(token) }, is: nil)
        },
    ]
}
