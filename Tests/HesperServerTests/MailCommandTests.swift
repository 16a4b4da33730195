import Foundation
import Testing

@testable import HesperServer

/// The command for mail: started without a shell, ended in time, and nothing of ours is told to it but the message.
@Suite struct MailCommandTests {
    @Test func wordsAreSplitAtSpacesAlone() throws {
        let command = try #require(MailCommand("  /usr/sbin/sendmail  -t\t-i \"a b\" $HOME ; rm"))
        #expect(command.program == "/usr/sbin/sendmail")
        #expect(command.arguments == ["-t", "-i", #""a"#, #"b""#, "$HOME", ";", "rm"])
        for wrong in ["", " ", "sendmail -t", "./sendmail", "-t /usr/sbin/sendmail"] {
            #expect(MailCommand(wrong) == nil, "\(wrong)")
        }
    }

    @Test func whatIsThere() {
        #expect(MailCommand("/bin/sh -c x")?.isThere == true)
        for wrong in ["/nowhere/sendmail", "/etc/passwd", "/tmp", "/"] {
            #expect(MailCommand(wrong)?.isThere == false, "\(wrong)")
        }
    }

    @Test func itGetsTheMessageAndNothingElse() async throws {
        let postbox = try Postbox(Postbox.keeps + "; echo said; echo more >&2; pwd > \"$1/place\"")
        defer { postbox.remove() }
        let message = "To: <ada@example.org>\n\n.\n-- $HOME `id` 'é'\n"
        try await MailCommand(postbox.text)?.send(message, within: .seconds(3_600))
        #expect(postbox.kept == [message])
        #expect(try await postbox.line(of: "place") == "/")
        let kept = MailCommand.withoutSecrets([
            "HESPER_DATABASE": "x", "AWS_SECRET_ACCESS_KEY": "x", "PGPASSWORD": "x", "HOME": "/root", "PATH": "/bin",
        ])
        #expect(kept == ["HOME": "/root", "PATH": "/bin"])
    }

    @Test func manyAtOnceEachHaveTheirOwn() async throws {
        let postbox = try Postbox()
        defer { postbox.remove() }
        let command = try #require(MailCommand(postbox.text))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask { try await command.send("message \(index)\n", within: .seconds(3_600)) }
            }
            try await group.waitForAll()
        }
        #expect(Set(postbox.kept) == Set((0..<12).map { "message \($0)\n" }))
    }

    @Test(arguments: [
        ("exit 75", MailFailure.failed(75)), ("cat >/dev/null; exit 1", .failed(1)), ("kill -9 $$", .failed(-9)),
    ]) func failures(_ script: String, _ failure: MailFailure) async throws {
        let postbox = try Postbox(script)
        defer { postbox.remove() }
        await #expect(throws: failure) { try await MailCommand(postbox.text)?.send("x", within: .seconds(3_600)) }
    }

    @Test func oneThatReadsNothingMayWell() async throws {
        let postbox = try Postbox("exit 0")
        defer { postbox.remove() }
        let message = String(repeating: "x", count: MailMessage.bytes)
        try await MailCommand(postbox.text)?.send(message, within: .seconds(3_600))
    }

    @Test func whatCannotBeStartedOrIsTooLong() async throws {
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

    /// It is ended, and so is what it has started.
    @Test func oneThatHangsIsKilled() async throws {
        let postbox = try Postbox(
            #"trap '' TERM; sleep 1000 & echo $! > "$1/child"; echo $$ > "$1/self"; wait; sleep 1000"#)
        defer { postbox.remove() }
        await #expect(throws: MailFailure.tookTooLong) {
            try await MailCommand(postbox.text)?.send("x", within: .seconds(3))
        }
        for name in ["self", "child"] {
            let pid = try #require(try await postbox.line(of: name).flatMap { pid_t($0) })
            var isGone = false
            for _ in 0..<1_000 where !isGone {
                isGone = MailCommandTests.isGone(pid)
                if !isGone { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(isGone, "\(name)")
        }
    }

    /// What was killed may wait for a parent that collects it: in a container nobody may.
    private static func isGone(_ pid: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return status.split(separator: ")").last?.hasPrefix(" Z") == true
    }
}
