import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Writes e-mails and passes them to the operator's mail command, in the background. Thus neither the response to a request nor
/// its timing reveals whether an address has an account (docs/decisions/0045).
///
/// If the mail command fails, the e-mail is not sent again. Mail commands have queues of their own, and a user can request
/// another e-mail.
final class Mailer: Service {
    private let settings: MailSettings
    private let limits: MailLimits
    private let store: any Store
    private let logger: Logger
    private let queue: AsyncStream<AccountEmail>
    private let continuation: AsyncStream<AccountEmail>.Continuation
    private let isEnding = NIOLockedValueBox(false)

    init(settings: MailSettings, limits: MailLimits, store: any Store, logger: Logger) {
        self.settings = settings
        self.limits = limits
        self.store = store
        self.logger = logger
        (queue, continuation) = AsyncStream.makeStream(
            of: AccountEmail.self, bufferingPolicy: .bufferingOldest(limits.waiting))
    }

    /// Queues an e-mail. It is later discarded, without an error, if the address has no account or the account must not get the
    /// e-mail.
    /// - Returns: false if the queue is full.
    func enqueue(_ email: AccountEmail) -> Bool {
        if case .enqueued = continuation.yield(email) { true } else { false }
    }

    /// Sends the queued e-mails until the server shuts down. At shutdown, e-mails that are being sent have a few seconds to finish,
    /// and e-mails that are still in the queue are dropped.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                var (running, dropped) = (0, 0)
                for await email in queue {
                    if running == limits.maxConcurrent {
                        _ = await group.next()
                        running -= 1
                    }
                    guard !isEnding.withLockedValue({ $0 }) else {
                        dropped += 1
                        continue
                    }
                    group.addTask { await self.deliver(email) }
                    running += 1
                }
                if dropped > 0 {
                    logger.warning("Waiting e-mails dropped at shutdown", metadata: ["count": "\(dropped)"])
                }
            }
        } onGracefulShutdown: {
            self.isEnding.withLockedValue { $0 = true }
            self.continuation.finish()
        }
    }

    /// Sends one e-mail and logs the outcome. Neither the address nor the link is logged.
    private func deliver(_ email: AccountEmail) async {
        let kind: Logger.Metadata = ["kind": .string(email.kind.rawValue)]
        do {
            guard let message = try await message(of: email) else { return }
            try await run(message)
            logger.info("E-mail sent", metadata: kind)
        } catch {
            logger.error("E-mail not sent: \(error)", metadata: kind)
        }
    }

    private func run(_ message: MailMessage) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [settings, limits] in
                try await settings.command.send(message.text, within: .seconds(limits.seconds))
                return true
            }
            group.addTask { [limits] in
                try await gracefulShutdown()
                try await Task.sleep(for: .seconds(limits.shutdownSeconds))
                return false
            }
            let isSent = try await group.next() ?? false
            group.cancelAll()
            // At shutdown, a mail command that takes too long is cancelled. The cancellation kills the process, and this line
            // throws the error of the cancelled task.
            if !isSent { _ = try await group.next() }
        }
    }

    /// Issues the ticket for the link and writes the message. Nil if the address has no account or the account must not get the
    /// e-mail.
    private func message(of email: AccountEmail) async throws -> MailMessage? {
        let (code, now, kind, key) = (OneTimeCode.random(), Timestamp.now, email.kind, Account.key(of: email.address))
        // This check avoids a write transaction for most requests that cause no e-mail.
        guard let known = try await store.read({ try $0.account(emailKey: key) }), kind.isSent(for: known) else {
            return nil
        }
        let issued = try await store.write { transaction -> MailAddress? in
            guard let account = try transaction.account(known.uniqueID), kind.isSent(for: account),
                let address = MailAddress(account.email)
            else { return nil }
            try transaction.issue(
                Ticket(kind.purpose, account: account.uniqueID, endDate: now.adding(kind.lifetime)), token: code.hash,
                at: now)
            return address
        }
        guard let address = issued else { return nil }
        return email.message(code, from: settings.from, to: address, origin: settings.origin, at: now)
    }
}
