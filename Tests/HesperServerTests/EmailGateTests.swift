import Foundation
import HesperModel
import NIOCore
import Testing

@testable import HesperServer

/// Limits on e-mails.
@Suite struct EmailGateTests {
    /// Runs `body` with a gate whose e-mails remain in the queue, because the mailer does not run.
    private static func test(_ limits: MailLimits, _ body: (EmailGate) throws -> Void) throws {
        let mailbox = try TestMailbox()
        defer { mailbox.remove() }
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let mailer = Mailer(
            settings: try #require(mailbox.settings), limits: limits, store: test.store, logger: TestServer.silent)
        try body(EmailGate(mailer: mailer, limits: limits))
    }

    /// Sends an e-mail; the error if it is refused.
    private static func refusal(
        by gate: EmailGate, _ kind: AccountEmail.Kind = .passwordReset, to email: String, from address: ClientAddress
    ) -> Problem? {
        do {
            try gate.send(AccountEmail(kind: kind, address: email), from: address)
            return nil
        } catch {
            return error
        }
    }

    @Test func theQueueIsLimited() throws {
        var limits = MailLimits()
        limits.waiting = 5
        try EmailGateTests.test(limits) { gate in
            let loopback = ClientAddress(ip: nil)
            for index in 0..<5 { #expect(EmailGateTests.refusal(by: gate, to: "\(index)@b.c", from: loopback) == nil) }
            #expect(EmailGateTests.refusal(by: gate, to: "6@b.c", from: loopback)?.slug == .tooManyRequests)
        }
    }

    /// Password resets that strangers request must not delay the owner's verification, and vice versa.
    @Test(
        arguments: [(.passwordReset, .emailVerification), (.emailVerification, .passwordReset)]
            as [(AccountEmail.Kind, AccountEmail.Kind)])
    func kindsAreLimitedSeparately(_ one: AccountEmail.Kind, _ other: AccountEmail.Kind) throws {
        let limits = MailLimits()
        try EmailGateTests.test(limits) { gate in
            let loopback = ClientAddress(ip: nil)
            if one == .emailVerification { gate.sendVerification(to: "ada@b.c") }
            repeat {} while EmailGateTests.refusal(by: gate, one, to: "ada@b.c", from: loopback) == nil
            for _ in 0..<limits.free {
                #expect(EmailGateTests.refusal(by: gate, other, to: "ada@b.c", from: loopback) == nil)
            }
            #expect(EmailGateTests.refusal(by: gate, other, to: "ada@b.c", from: loopback)?.slug == .tooManyRequests)
        }
    }

    @Test func clientsAreLimitedWithoutAffectingOthers() throws {
        let limits = MailLimits()
        try EmailGateTests.test(limits) { gate in
            let stranger = ClientAddress(try SocketAddress(ipAddress: "192.0.2.7", port: 1))
            let owner = ClientAddress(try SocketAddress(ipAddress: "192.0.2.8", port: 1))
            for index in 0..<limits.freePerAddress {
                #expect(EmailGateTests.refusal(by: gate, to: "\(index)@b.c", from: stranger) == nil)
            }
            for _ in 0..<5 {
                let refusal = EmailGateTests.refusal(by: gate, to: "ada@b.c", from: stranger)
                #expect(refusal?.slug == .tooManyRequests)
            }
            for _ in 0..<limits.free {
                #expect(EmailGateTests.refusal(by: gate, to: "ada@b.c", from: owner) == nil)
            }
            let refusal = EmailGateTests.refusal(by: gate, to: "ADA@b.c", from: owner)
            #expect(refusal?.slug == .tooManyRequests && refusal?.detail.contains("Retry after 600 s") == true)
        }
    }
}
