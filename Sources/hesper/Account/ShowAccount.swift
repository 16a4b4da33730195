import ArgumentParser
import HesperModel
import HesperStore

extension AccountCommand {
    /// The command `hesper account show EMAIL`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an account and its signed-in devices.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(show)
        }

        private func show(in store: any Store) async throws {
            let email = email
            let lines = try await store.read { snapshot in
                let account = try snapshot.account(of: email)
                let usage = try snapshot.usage(of: account.scope)
                let devices = try Show.devices(of: account, in: snapshot)
                return [
                    "email:    \(account.email)",
                    "verified: \(account.emailVerificationDate?.description ?? "-")",
                    "uniqueID: \(account.uniqueID)",
                    "created:  \(account.creationDate)",
                    "disabled: \(account.disabledSince?.description ?? "-")",
                    "objects:  \(usage.objects), with \(usage.bytes) bytes, and \(usage.storage.attachmentBytes) bytes of attachments",
                    "stored:   \(usage.storage.bytes) bytes, including the history",
                    "quota:    \(usage.storage.quota)",
                    "devices:  \(devices.count)",
                ] + devices.map(Show.line)
            }
            lines.forEach(Terminal.printLine)
        }

        private static func line(_ device: Device) -> String {
            let name = LogLine.escapedForTerminal(device.name)
            let app = LogLine.escapedForTerminal(device.appVersion ?? device.userAgent ?? "-")
            return
                "  \(device.node)  last used \(device.lastUseDate) from \(device.lastUseAddress ?? "-")  \(name)  (\(app))"
        }

        /// Reads all devices of an account, page by page.
        private static func devices(of account: Account, in snapshot: any Snapshot) throws -> [Device] {
            let limit = 500
            var devices: [Device] = []
            while true {
                let page = try snapshot.devices(
                    of: account.uniqueID, tokens: false, after: devices.last?.node, limit: limit)
                devices += page
                if page.count < limit { return devices }
            }
        }
    }
}
