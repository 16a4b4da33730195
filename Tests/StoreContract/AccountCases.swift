import HesperModel
import HesperStore

extension StoreContract {
    static let accountCases: [Case] = [
        Case("an account is found by its ID and by its e-mail address") { (client: Client) in
            let account = client.account
            try expect(try await client.read { try $0.account(account.uniqueID) }, is: account)
            try expect(
                try await client.read { try $0.account(emailKey: Account.key(of: "ADA@Example.com")) }, is: account)
            try expect(try await client.read { try $0.account(.random()) }, is: nil)
            try expect(try await client.read { try $0.account(emailKey: "nobody@example.com") }, is: nil)
        },
        Case("an e-mail address belongs to only one account, regardless of case") { (client: Client) in
            let second = try await client.store.write { transaction in
                try transaction.insertAccount(
                    .random(), email: "Ada@EXAMPLE.com", passwordHash: "x", creationDate: Client.date(0))
            }
            try expect(second, is: nil)
            try expect(try await client.read { try $0.accounts() }, is: [client.account])
        },
        Case("accounts are listed by e-mail address") { (client: Client) in
            let others = try await [
                Client(on: client.store, email: "Zoe@example.com"),
                Client(on: client.store, email: "aaron@example.com"),
            ]
            try expect(
                try await client.read { try $0.accounts().map(\.email) },
                is: ["aaron@example.com", "ada@example.com", "Zoe@example.com"])
            try expect(Set([client.scope, others[0].scope, others[1].scope]).count, is: 3)
        },
        Case("whether there is an account") { (client: Client) in
            try expect(try await client.read { try $0.hasAccount() }, is: true)
            try await client.store.write { try $0.deleteAccount(client.account.uniqueID) }
            try expect(try await client.read { try $0.hasAccount() }, is: false)
        },
        Case("totals include accounts, devices and the bytes of attachments") { (client: Client) in
            let before = try await client.read { try $0.totals() }
            try expect(before, is: Totals(accounts: 1, devices: 1, blobBytes: 0))
            let other = try await Client(on: client.store, email: "bob@example.com")
            for (one, byteCount) in [(client, Int64(7)), (other, Int64(5))] {
                let blob = Blob(
                    name: BlobName(scope: one.scope, attachment: .random()), data: BlobSample(byteCount).data,
                    arrivalDate: Client.date(3))
                try await one.store.write { try $0.insert(blob) }
            }
            let after = try await client.read { try $0.totals() }
            try expect(after, is: Totals(accounts: 2, devices: 2, blobBytes: 12))
        },
        Case("the accounts with the greatest clocks are listed in descending order") { (client: Client) in
            let others = try await [
                Client(on: client.store, email: "bob@example.com"), Client(on: client.store, email: "cleo@example.com"),
            ]
            _ = try await Client(on: client.store, email: "nothing@example.com")
            try await client.push(client.note(.random(), "Milk", at: 7))
            try await others[0].push(others[0].note(.random(), "Bread", at: 3))
            try await others[1].push(others[1].note(.random(), "Salt", at: 9))
            let all = try await client.read { try $0.greatestClocks(limit: 9) }
            try expect(all.map(\.email), is: ["cleo@example.com", "ada@example.com", "bob@example.com"])
            try expect(all.map(\.clock), is: all.map(\.clock).sorted(by: >))
            try expect(try await client.read { try $0.greatestClocks(limit: 2) }, is: Array(all.prefix(2)))
            try expect(try await client.read { try $0.greatestClocks(limit: 0) }, is: [])
        },
        Case("a change of the password changes nothing else") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            try await client.store.write { try $0.setPasswordHash("scrypt:new", of: client.account.uniqueID) }
            var changed = client.account
            changed.passwordHash = "scrypt:new"
            try expect(try await client.read { try $0.account(client.account.uniqueID) }, is: changed)
            try expect(try await client.read { try $0.account(other.account.uniqueID) }, is: other.account)
        },
        Case(
            "the verification of an e-mail address needs a ticket, which works once, and is visible to other processes"
        ) {
            (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let other = try await Client(on: client.store, email: "bob@example.com")
            let (token, reset) = (Client.token(), Client.token())
            let id = client.account.uniqueID
            try expect(client.account.emailVerificationDate, is: nil)
            try await client.store.write { transaction in
                try transaction.issue(
                    Ticket(.emailVerification, account: id, endDate: Client.date(9)), token: token, at: Client.date(0))
                try transaction.issue(
                    Ticket(.passwordReset, account: id, endDate: Client.date(9)), token: reset, at: Client.date(0))
            }
            let verify: @Sendable (TokenHash, Int64) async throws -> Bool = { token, date in
                try await client.store.write { try $0.verifyEmail(with: token, at: Client.date(date)) }
            }
            try expect(try await verify(reset, 1), is: false)
            try expect(try await verify(token, 9), is: false)
            try expect(try await verify(token, 5), is: true)
            try expect(try await verify(token, 6), is: false)
            var verified = client.account
            verified.emailVerificationDate = Client.date(5)
            let reopened = try await subject.open()
            try expect(try await reopened.read { try $0.account(id) }, is: verified)
            try expect(try await reopened.read { try $0.account(emailKey: "ada@example.com") }, is: verified)
            try expect(try await reopened.read { try $0.accounts() }, is: [verified, other.account])
            // The password reset ticket remains valid.
            try expect(try await reopened.read { try $0.ticket(reset) } != nil)
        },
        Case("a new scope is empty") { (client: Client) in
            let head = ScopeHead(scope: client.scope, sequence: 0, digest: .zero)
            try expect(try await client.read { try $0.head(of: client.scope) }, is: head)
            try expect(try await client.rows(), is: [])
            try expect(try await client.read { try $0.usage(of: client.scope) }, is: Usage(objects: 0, bytes: 0))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("deleting an account deletes all of its data and nothing of other accounts") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            let (note, tag, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            for one in [client, other] {
                // Both accounts have objects with the same IDs.
                try await one.push(
                    one.tag(tag, "Paris", at: 1), one.note(note, "Milk", at: 2, (.tag(tag), .bool(true))),
                    one.note(deleted, "Bread", at: 3))
                try await one.push(one.delete(deleted))
                try await one.index()
            }
            let before = try await other.rows()
            try await client.store.write { try $0.deleteAccount(client.account.uniqueID) }
            try expect(try await client.read { try $0.account(client.account.uniqueID) }, is: nil)
            try expect(try await client.store.session(of: client.token), is: nil)
            try expect(try await client.read { try $0.head(of: client.scope) }, is: nil)
            try expect(try await client.rows(), is: [])
            for id in [note, tag, deleted] {
                try expect(try await client.state(id), is: nil)
                try expect(
                    try await client.read { try $0.history(of: id, in: client.scope, before: nil, limit: 9) }, is: [])
            }
            try expect(try await client.found("milk"), is: [])
            try expect(try await client.read { try $0.tag(named: "paris", in: client.scope) }, is: nil)
            try expect(try await other.rows(), is: before)
            try expect(try await other.found("milk"), is: [note])
            try expect(try await other.inconsistencies(), is: [])
            // The address can be used again, for an empty account.
            let again = try await Client(on: client.store)
            try expect(try await again.rows(), is: [])
            try expect(again.scope != client.scope, "the ID of a deleted scope is reused")
        },
    ]
}
