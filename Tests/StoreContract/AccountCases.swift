import HesperModel
import HesperStore

extension StoreContract {
    static let accountCases: [Case] = [
        Case("keeps an account, found by its ID and its e-mail address") { (desk: Desk) in
            let account = desk.account
            try expect(try await desk.read { try $0.account(account.uniqueID) }, is: account)
            try expect(
                try await desk.read { try $0.account(emailKey: Account.key(of: "ADA@Example.com")) }, is: account)
            try expect(try await desk.read { try $0.account(.random()) }, is: nil)
            try expect(try await desk.read { try $0.account(emailKey: "nobody@example.com") }, is: nil)
        },
        Case("gives an e-mail address to one account alone, however it is spelt") { (desk: Desk) in
            let second = try await desk.store.write { transaction in
                try transaction.insertAccount(
                    .random(), email: "Ada@EXAMPLE.com", passwordHash: "x", creationDate: Desk.date(0))
            }
            try expect(second, is: nil)
            try expect(try await desk.read { try $0.accounts() }, is: [desk.account])
        },
        Case("lists accounts by e-mail address") { (desk: Desk) in
            let others = try await [
                Desk(on: desk.store, email: "Zoe@example.com"), Desk(on: desk.store, email: "aaron@example.com"),
            ]
            try expect(
                try await desk.read { try $0.accounts().map(\.email) },
                is: ["aaron@example.com", "ada@example.com", "Zoe@example.com"])
            try expect(Set([desk.scope, others[0].scope, others[1].scope]).count, is: 3)
        },
        Case("counts accounts, devices and the bytes of attachments") { (desk: Desk) in
            let before = try await desk.read { try $0.totals() }
            try expect(before, is: Totals(accounts: 1, devices: 1, blobBytes: 0))
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            for (one, byteCount) in [(desk, Int64(7)), (other, Int64(5))] {
                let blob = Blob(
                    name: BlobName(scope: one.scope, attachment: .random()), data: BlobSample(byteCount).data,
                    arrivalDate: Desk.date(3))
                try await one.store.write { try $0.insert(blob) }
            }
            let after = try await desk.read { try $0.totals() }
            try expect(after, is: Totals(accounts: 2, devices: 2, blobBytes: 12))
        },
        Case("tells the accounts with the greatest clocks, the greatest first") { (desk: Desk) in
            let others = try await [
                Desk(on: desk.store, email: "bob@example.com"), Desk(on: desk.store, email: "cleo@example.com"),
            ]
            _ = try await Desk(on: desk.store, email: "nothing@example.com")
            try await desk.push(desk.note(.random(), "Milk", at: 7))
            try await others[0].push(others[0].note(.random(), "Bread", at: 3))
            try await others[1].push(others[1].note(.random(), "Salt", at: 9))
            let all = try await desk.read { try $0.greatestClocks(limit: 9) }
            try expect(all.map(\.email), is: ["cleo@example.com", "ada@example.com", "bob@example.com"])
            try expect(all.map(\.clock), is: all.map(\.clock).sorted(by: >))
            try expect(try await desk.read { try $0.greatestClocks(limit: 2) }, is: Array(all.prefix(2)))
            try expect(try await desk.read { try $0.greatestClocks(limit: 0) }, is: [])
        },
        Case("changes a password and nothing else") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            try await desk.store.write { try $0.setPasswordHash("scrypt:new", of: desk.account.uniqueID) }
            var changed = desk.account
            changed.passwordHash = "scrypt:new"
            try expect(try await desk.read { try $0.account(desk.account.uniqueID) }, is: changed)
            try expect(try await desk.read { try $0.account(other.account.uniqueID) }, is: other.account)
        },
        Case("keeps when an e-mail address was verified, by a ticket that is good once, and whoever opens the database")
        {
            (subject: Subject) in
            let desk = try await Desk(on: try await subject.open())
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let (token, reset) = (Desk.token(), Desk.token())
            let id = desk.account.uniqueID
            try expect(desk.account.emailVerificationDate, is: nil)
            try await desk.store.write { transaction in
                try transaction.issue(
                    Ticket(.emailVerification, account: id, endDate: Desk.date(9)), token: token, at: Desk.date(0))
                try transaction.issue(
                    Ticket(.passwordReset, account: id, endDate: Desk.date(9)), token: reset, at: Desk.date(0))
            }
            let verify: @Sendable (TokenHash, Int64) async throws -> Bool = { token, date in
                try await desk.store.write { try $0.verifyEmail(with: token, at: Desk.date(date)) }
            }
            try expect(try await verify(reset, 1), is: false)
            try expect(try await verify(token, 9), is: false)
            try expect(try await verify(token, 5), is: true)
            try expect(try await verify(token, 6), is: false)
            var verified = desk.account
            verified.emailVerificationDate = Desk.date(5)
            let elsewhere = try await subject.open()
            try expect(try await elsewhere.read { try $0.account(id) }, is: verified)
            try expect(try await elsewhere.read { try $0.account(emailKey: "ada@example.com") }, is: verified)
            try expect(try await elsewhere.read { try $0.accounts() }, is: [verified, other.account])
            // It says nothing of the password, whose link is as good as before.
            try expect(try await elsewhere.read { try $0.ticket(reset) } != nil)
        },
        Case("begins a scope with nothing in it") { (desk: Desk) in
            let head = ScopeHead(scope: desk.scope, sequence: 0, digest: .zero)
            try expect(try await desk.read { try $0.head(of: desk.scope) }, is: head)
            try expect(try await desk.rows(), is: [])
            try expect(try await desk.read { try $0.usage(of: desk.scope) }, is: Usage(objects: 0, bytes: 0))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("erases an account with all that it held, and nothing of others") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "bob@example.com")
            let (note, tag, dead) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            for one in [desk, other] {
                // Both have objects of the same IDs.
                try await one.push(
                    one.tag(tag, "Paris", at: 1), one.note(note, "Milk", at: 2, (.tag(tag), .bool(true))),
                    one.note(dead, "Bread", at: 3))
                try await one.push(one.delete(dead))
                try await one.index()
            }
            let kept = try await other.rows()
            try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
            try expect(try await desk.read { try $0.account(desk.account.uniqueID) }, is: nil)
            try expect(try await desk.store.session(of: desk.token), is: nil)
            try expect(try await desk.read { try $0.head(of: desk.scope) }, is: nil)
            try expect(try await desk.rows(), is: [])
            for id in [note, tag, dead] {
                try expect(try await desk.state(id), is: nil)
                try expect(
                    try await desk.read { try $0.history(of: id, in: desk.scope, before: nil, limit: 9) }, is: [])
            }
            try expect(try await desk.found("milk"), is: [])
            try expect(try await desk.read { try $0.tag(named: "paris", in: desk.scope) }, is: nil)
            try expect(try await other.rows(), is: kept)
            try expect(try await other.found("milk"), is: [note])
            try expect(try await other.inconsistencies(), is: [])
            // The address is free, and whoever takes it begins with nothing.
            let again = try await Desk(on: desk.store)
            try expect(try await again.rows(), is: [])
            try expect(again.scope != desk.scope, "an erased scope's number is given out again")
        },
    ]
}
