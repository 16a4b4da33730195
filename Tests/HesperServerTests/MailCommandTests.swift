import Foundation
import Testing

@testable import HesperServer

/// The mail command: started without a shell and without secrets, and killed after a timeout.
@Suite struct MailCommandTests {
    @Test func wordsAreSplitAtSpacesOnly() throws {
        let command = try #require(MailCommand("  /usr/sbin/sendmail  -t\t-i \"a b\" $HOME ; rm"))
        #expect(command.program == "/usr/sbin/sendmail")
        #expect(command.arguments == ["-t", "-i", #""a"#, #"b""#, "$HOME", ";", "rm"])
        for wrong in ["", " ", "sendmail -t", "./sendmail", "-t /usr/sbin/sendmail"] {
            #expect(MailCommand(wrong) == nil, "\(wrong)")
        }
    }

    @Test func executablePrograms() {
        #expect(MailCommand("/bin/sh -c x")?.isThere == true)
        for wrong in ["/nowhere/sendmail", "/etc/passwd", "/tmp", "/"] {
            #expect(MailCommand(wrong)?.isThere == false, "\(wrong)")
        }
    }

    @Test func theCommandGetsOnlyTheMessage() async throws {
        let mailbox = try TestMailbox(TestMailbox.storeScript + "; echo said; echo more >&2; pwd > \"$1/place\"")
        defer { mailbox.remove() }
        let message = "To: <ada@example.org>\n\n.\n-- $HOME `id` 'é'\n"
        try await MailCommand(mailbox.text)?.send(message, within: .seconds(3_600))
        #expect(mailbox.stored == [message])
        #expect(try await mailbox.line(of: "place") == "/")
        let remaining = MailCommand.withoutSecrets([
            "HESPER_DATABASE": "x", "AWS_SECRET_ACCESS_KEY": "x", "PGPASSWORD": "x", "HOME": "/root", "PATH": "/bin",
        ])
        #expect(remaining == ["HOME": "/root", "PATH": "/bin"])
    }

    @Test func concurrentCommandsGetTheirOwnMessages() async throws {
        let mailbox = try TestMailbox()
        defer { mailbox.remove() }
        let command = try #require(MailCommand(mailbox.text))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask { try await command.send("message \(index)\n", within: .seconds(3_600)) }
            }
            try await group.waitForAll()
        }
        #expect(Set(mailbox.stored) == Set((0..<12).map { "message \($0)\n" }))
    }

    @Test(arguments: [
        ("exit 75", MailFailure.failed(75)), ("cat >/dev/null; exit 1", .failed(1)), ("kill -9 $$", .failed(-9)),
    ]) func failures(_ script: String, _ failure: MailFailure) async throws {
        let mailbox = try TestMailbox(script)
        defer { mailbox.remove() }
        await #expect(throws: failure) { try await MailCommand(mailbox.text)?.send("x", within: .seconds(3_600)) }
    }

    @Test func aCommandNeedNotReadItsInput() async throws {
        let mailbox = try TestMailbox("exit 0")
        defer { mailbox.remove() }
        let message = String(repeating: "x", count: MailMessage.bytes)
        try await MailCommand(mailbox.text)?.send(message, within: .seconds(3_600))
    }

    @Test func failureToStartAndTooLongMessages() async throws {
        do {
            try await MailCommand("/nowhere/sendmail")?.send("x", within: .seconds(3_600))
            Issue.record("it was started")
        } catch let failure as MailFailure {
            guard case .cannotStart = failure else { throw failure }
        }
        let long = String(repeating: "x", count: MailMessage.bytes + 1)
        await #expect(throws: MailFailure.tooLong(bytes: long.utf8.count)) {
            try await MailCommand("/bin/cat")?.send(long, within: .seconds(3_600))
        }
    }

    /// The command and the processes that it has started are killed.
    @Test func aHangingCommandIsKilled() async throws {
        let mailbox = try TestMailbox(
            #"trap '' TERM; sleep 1000 & echo $! > "$1/child"; echo $$ > "$1/self"; wait; sleep 1000"#)
        defer { mailbox.remove() }
        await #expect(throws: MailFailure.timedOut) {
            try await MailCommand(mailbox.text)?.send("x", within: .seconds(3))
        }
        for name in ["self", "child"] {
            let pid = try #require(try await mailbox.line(of: name).flatMap { pid_t($0) })
            var hasEnded = false
            for _ in 0..<1_000 where !hasEnded {
                hasEnded = MailCommandTests.hasEnded(pid)
                if !hasEnded { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(hasEnded, "\(name)")
        }
    }

    /// A killed process may remain as a zombie: in a container, no parent may collect it.
    private static func hasEnded(_ pid: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return status.split(separator: ")").last?.hasPrefix(" Z") == true
    }
}
