import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Writes letters and hands them to the operator's command, behind the answers that asked for them: whether there is an account,
/// and how long its letter takes, nobody sees who asks (record 45).
///
/// A letter that could not be handed over is not tried again: commands keep queues of their own, and people ask again.
final class Mailer: Service {
    private let settings: MailSettings
    private let limits: MailLimits
    private let store: any Store
    private let logger: Logger
    private let letters: AsyncStream<Letter>
    private let continuation: AsyncStream<Letter>.Continuation
    private let isEnding = NIOLockedValueBox(false)

    init(settings: MailSettings, limits: MailLimits, store: any Store, logger: Logger) {
        self.settings = settings
        self.limits = limits
        self.store = store
        self.logger = logger
        (letters, continuation) = AsyncStream.makeStream(
            of: Letter.self, bufferingPolicy: .bufferingOldest(limits.waiting))
    }

    /// Has a letter written as soon as its turn comes, if it is for somebody.
    /// - Returns: false if too many wait already.
    func post(_ letter: Letter) -> Bool {
        if case .enqueued = continuation.yield(letter) { true } else { false }
    }

    /// Until it is shut down: then what is under way has a few seconds to come to its end, and what waits is dropped.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                var (underWay, dropped) = (0, 0)
                for await letter in letters {
                    if underWay == limits.atOnce {
                        _ = await group.next()
                        underWay -= 1
                    }
                    guard !isEnding.withLockedValue({ $0 }) else {
                        dropped += 1
                        continue
                    }
                    group.addTask { await self.deliver(letter) }
                    underWay += 1
                }
                if dropped > 0 { logger.warning("\(dropped) letters still waited, and are not sent.") }
            }
        } onGracefulShutdown: {
            self.isEnding.withLockedValue { $0 = true }
            self.continuation.finish()
        }
    }

    /// Neither the address nor the link is in a line of the log.
    private func deliver(_ letter: Letter) async {
        let kind: Logger.Metadata = ["letter": .string(letter.kind.rawValue)]
        do {
            guard let message = try await message(of: letter) else { return }
            try await hand(over: message)
            logger.info("a letter was handed over", metadata: kind)
        } catch {
            logger.error("a letter was not handed over: \(error)", metadata: kind)
        }
    }

    private func hand(over message: MailMessage) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [settings, limits] in
                try await settings.command.send(message.text, within: .seconds(limits.seconds))
                return true
            }
            group.addTask { [limits] in
                try await gracefulShutdown()
                try await Task.sleep(for: .seconds(limits.lastSeconds))
                return false
            }
            let isSent = try await group.next() ?? false
            group.cancelAll()
            // A command that is cancelled is killed, and says so.
            if !isSent { _ = try await group.next() }
        }
    }

    /// Nil if nobody gets it.
    private func message(of letter: Letter) async throws -> MailMessage? {
        let (code, now, kind, key) = (OneTimeCode.random(), Timestamp.now, letter.kind, Account.key(of: letter.email))
        // Most of what is asked for in vain ends here, without a turn of the writer's.
        guard let known = try await store.read({ try $0.account(emailKey: key) }), kind.isFor(known),
            let address = MailAddress(known.email)
        else { return nil }
        let isIssued = try await store.write { transaction in
            guard let account = try transaction.account(known.uniqueID), kind.isFor(account) else { return false }
            try transaction.issue(
                Ticket(kind.purpose, account: account.uniqueID, endDate: now.adding(kind.lifetime)), token: code.hash,
                at: now)
            return true
        }
        guard isIssued else { return nil }
        return letter.message(code, from: settings.from, to: address, origin: settings.origin, at: now)
    }
}
