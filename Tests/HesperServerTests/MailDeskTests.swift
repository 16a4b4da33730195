import Foundation
import HesperModel
import NIOCore
import Testing

@testable import HesperServer

/// Limits on letters, whoever asks for them.
@Suite struct MailDeskTests {
    /// A desk whose letters wait: nobody hands them over.
    private static func test(_ limits: MailLimits, _ body: (MailDesk) throws -> Void) throws {
        let postbox = try Postbox()
        defer { postbox.remove() }
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let mailer = Mailer(
            settings: try #require(postbox.settings), limits: limits, store: test.store, logger: TestServer.silent)
        try body(MailDesk(mailer: mailer, limits: limits))
    }

    /// Asks for a letter; why there is none.
    private static func refusal(
        by desk: MailDesk, _ kind: Letter.Kind = .passwordReset, to email: String, from address: ClientAddress
    ) -> Problem? {
        do {
            try desk.ask(Letter(kind: kind, email: email), from: address)
            return nil
        } catch {
            return error
        }
    }

    @Test func soManyWaitAndNoMore() throws {
        var limits = MailLimits()
        limits.waiting = 5
        try MailDeskTests.test(limits) { desk in
            let here = ClientAddress(ip: nil)
            for index in 0..<5 { #expect(MailDeskTests.refusal(by: desk, to: "\(index)@b.c", from: here) == nil) }
            #expect(MailDeskTests.refusal(by: desk, to: "6@b.c", from: here)?.slug == .tooManyRequests)
        }
    }

    /// However often somebody asks for a new password in their name: they verify their address, and the other way round.
    @Test(
        arguments: [(.passwordReset, .emailVerification), (.emailVerification, .passwordReset)]
            as [(Letter.Kind, Letter.Kind)])
    func oneKindUsesUpNothingOfTheOther(_ one: Letter.Kind, _ other: Letter.Kind) throws {
        let limits = MailLimits()
        try MailDeskTests.test(limits) { desk in
            let here = ClientAddress(ip: nil)
            if one == .emailVerification { desk.welcome("ada@b.c") }
            repeat {} while MailDeskTests.refusal(by: desk, one, to: "ada@b.c", from: here) == nil
            for _ in 0..<limits.free {
                #expect(MailDeskTests.refusal(by: desk, other, to: "ada@b.c", from: here) == nil)
            }
            #expect(MailDeskTests.refusal(by: desk, other, to: "ada@b.c", from: here)?.slug == .tooManyRequests)
        }
    }

    @Test func onePlaceAsksForSoManyAndUsesUpNothingOfOthers() throws {
        let limits = MailLimits()
        try MailDeskTests.test(limits) { desk in
            let stranger = ClientAddress(try SocketAddress(ipAddress: "192.0.2.7", port: 1))
            let owner = ClientAddress(try SocketAddress(ipAddress: "192.0.2.8", port: 1))
            for index in 0..<limits.freePerAddress {
                #expect(MailDeskTests.refusal(by: desk, to: "\(index)@b.c", from: stranger) == nil)
            }
            for _ in 0..<5 {
                let refusal = MailDeskTests.refusal(by: desk, to: "ada@b.c", from: stranger)
                #expect(refusal?.slug == .tooManyRequests)
            }
            for _ in 0..<limits.free {
                #expect(MailDeskTests.refusal(by: desk, to: "ada@b.c", from: owner) == nil)
            }
            let refusal = MailDeskTests.refusal(by: desk, to: "ADA@b.c", from: owner)
            #expect(refusal?.slug == .tooManyRequests && refusal?.detail.contains("600 seconds") == true)
        }
    }
}
