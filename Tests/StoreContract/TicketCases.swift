import HesperModel
import HesperStore

extension StoreContract {
    private static let (now, later) = (Desk.date(0), Desk.date(1_000))

    static let ticketCases: [Case] = [
        Case("keeps a ticket as it was made, whoever opens the database") { (subject: Subject) in
            let desk = try await Desk(on: try await subject.open())
            let reset = Ticket(.passwordReset, account: desk.account.uniqueID, endDate: later)
            let (token, others) = (Desk.token(), Desk.token())
            let invitation = Ticket(.invitation, email: "Bob+1@example.com", endDate: later)
            try await desk.store.write { transaction in
                try transaction.issue(reset, token: token, at: now)
                try transaction.issue(invitation, token: others, at: now)
            }
            let elsewhere = try await subject.open()
            try expect(try await elsewhere.read { try $0.ticket(token) }, is: reset)
            try expect(try await elsewhere.read { try $0.ticket(others) }, is: invitation)
            try expect(try await elsewhere.read { try $0.ticket(Desk.token()) }, is: nil)
        },
        Case("gives a ticket for its purpose, until its end, to one of many") { (desk: Desk) in
            let token = Desk.token()
            let ticket = Ticket(.passwordReset, account: desk.account.uniqueID, endDate: later)
            try await desk.store.write { try $0.issue(ticket, token: token, at: now) }
            let use: @Sendable (Ticket.Purpose, Timestamp) async throws -> Ticket? = { purpose, date in
                try await desk.store.write { try $0.useTicket(token, for: purpose, at: date) }
            }
            try expect(try await use(.invitation, now), is: nil)
            try expect(try await use(.passwordReset, later), is: nil)
            let uses = try await withThrowingTaskGroup(of: Ticket?.self) { group in
                for _ in 0..<8 { group.addTask { try await use(.passwordReset, Desk.date(999)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expect(uses.compactMap { $0 }, is: [ticket])
            try expect(try await desk.read { try $0.ticket(token) }, is: nil)
        },
        Case("undoes the use of a ticket with its transaction") { (desk: Desk) in
            let token = Desk.token()
            let ticket = Ticket(.invitation, endDate: later)
            try await desk.store.write { try $0.issue(ticket, token: token, at: now) }
            do {
                try await desk.store.write { transaction in
                    try expect(try transaction.useTicket(token, for: .invitation, at: now), is: ticket)
                    throw Deliberate()
                }
            } catch is Deliberate {}
            try expect(try await desk.read { try $0.ticket(token) }, is: ticket)
        },
        Case("has one ticket of an account for one purpose, and none that is over") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let tokens = (0..<5).map { _ in Desk.token() }
            try await desk.store.write { transaction in
                try transaction.issue(
                    Ticket(.passwordReset, account: desk.account.uniqueID, endDate: later), token: tokens[0], at: now)
                try transaction.issue(
                    Ticket(.passwordReset, account: other.account.uniqueID, endDate: later), token: tokens[1], at: now)
                try transaction.issue(Ticket(.invitation, endDate: Desk.date(500)), token: tokens[2], at: now)
                try transaction.issue(Ticket(.invitation, endDate: later), token: tokens[3], at: now)
            }
            try await desk.store.write { transaction in
                try transaction.issue(
                    Ticket(.passwordReset, account: desk.account.uniqueID, endDate: later), token: tokens[4],
                    at: Desk.date(500))
            }
            let kept = try await desk.read { snapshot in try tokens.map { try snapshot.ticket($0) != nil } }
            try expect(kept, is: [false, true, false, true, true])
        },
        Case("keeps the operator's link to a new password beside a mailed one, until the operator makes another") {
            (desk: Desk) in
            let tokens = (0..<5).map { _ in Desk.token() }
            let issue: @Sendable (Ticket.Purpose, Int) async throws -> Void = { purpose, index in
                let ticket = Ticket(purpose, account: desk.account.uniqueID, endDate: later)
                try await desk.store.write { try $0.issue(ticket, token: tokens[index], at: now) }
            }
            let good: @Sendable () async throws -> [Bool] = {
                try await desk.read { snapshot in
                    try tokens.map { try snapshot.ticket($0, for: .passwordReset, at: now) != nil }
                }
            }
            try await issue(.emailVerification, 4)
            try await issue(.passwordReset, 0)
            try await issue(.mailedPasswordReset, 1)
            try await issue(.mailedPasswordReset, 2)
            try expect(try await good(), is: [true, false, true, false, false])
            try await issue(.passwordReset, 3)
            try expect(try await good(), is: [false, false, false, true, false])
            try await issue(.mailedPasswordReset, 2)
            try expect(try await good(), is: [false, false, true, true, false])
            let used = try await desk.store.write { transaction in
                let ticket = try transaction.useTicket(tokens[2], for: .passwordReset, at: now)
                try transaction.changePassword(to: "scrypt:1", of: desk.account.uniqueID, signingOut: .none)
                return ticket
            }
            try expect(used?.purpose, is: .mailedPasswordReset)
            try expect(try await good(), is: [false, false, false, false, false])
            try expect(try await desk.read { try $0.ticket(tokens[4]) } != nil, "it is about another thing")
        },
        Case("voids links to a new password when one is set, and signs out whom it should") { (desk: Desk) in
            let (token, invitation, second) = (Desk.token(), Desk.token(), Desk.token())
            let id = desk.account.uniqueID
            let laptop = Desk.device(of: id, name: "another")
            try await desk.store.write { transaction in
                try transaction.insert(laptop, token: second)
                try transaction.issue(Ticket(.passwordReset, account: id, endDate: later), token: token, at: now)
                try transaction.issue(Ticket(.invitation, endDate: later), token: invitation, at: now)
                try transaction.changePassword(to: "scrypt:1", of: id, signingOut: .none)
            }
            try expect(try await desk.read { try $0.ticket(token) }, is: nil)
            try expect(try await desk.read { try $0.ticket(invitation) } != nil, "an invitation is somebody else's")
            try expect(try await desk.store.session(of: desk.token)?.device.node, is: desk.device.node)
            try await desk.store.write {
                try $0.changePassword(to: "scrypt:2", of: id, signingOut: .others(than: laptop.node))
            }
            try expect(try await desk.store.session(of: desk.token), is: nil)
            try expect(try await desk.store.session(of: second)?.device.node, is: laptop.node)
            try await desk.store.write { try $0.changePassword(to: "scrypt:3", of: id, signingOut: .all) }
            try expect(try await desk.store.session(of: second), is: nil)
            try expect(try await desk.read { try $0.account(id)?.passwordHash }, is: "scrypt:3")
        },
        Case("erases tickets with their account") { (desk: Desk) in
            let token = Desk.token()
            let id = desk.account.uniqueID
            try await desk.store.write {
                try $0.issue(Ticket(.passwordReset, account: id, endDate: later), token: token, at: now)
            }
            try await desk.store.write { try $0.deleteAccount(id) }
            try expect(try await desk.read { try $0.ticket(token) }, is: nil)
        },
    ]
}
