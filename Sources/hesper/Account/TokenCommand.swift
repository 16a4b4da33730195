import ArgumentParser
import HesperModel
import HesperServer
import HesperStore

extension AccountCommand {
    /// The command `hesper account token …`.
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create, list and revoke access tokens, with which scripts use an account.",
            subcommands: [CreateToken.self, ListTokens.self, RevokeToken.self])
    }

    /// The command `hesper account token create EMAIL --name NAME --scope SCOPE`.
    struct CreateToken: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create an access token and print it. Only its hash is stored, so it cannot be printed again.",
            discussion: """
                read allows reading everything. append allows creating notes and adding text to notes, but not reading. write \
                includes both. No token can change the account, sign out devices or create tokens.
                """)

        @Argument(help: "The account's e-mail address.") var email: String
        @Option(help: "A name by which the user recognizes the token.") var name: String
        @Option(help: "What the token may do: read, append or write. Can be repeated.") var scope: [TokenAccess.Scope]
        @Option(help: "The name of a tag. The token can then use only notes with this tag, and cannot sync or search.")
        var tag: String?
        @Option(
            help: ArgumentHelp(
                "When the token becomes invalid: \(Period.form) (default: never).", valueName: "period"))
        var expires: Period?
        @OptionGroup var dataOptions: DataOptions

        func validate() throws {
            guard (1...Limits.deviceNameLength).contains(name.unicodeScalars.count) else {
                throw ValidationError("--name must have 1 to \(Limits.deviceNameLength) characters.")
            }
        }

        func run() async throws {
            try await dataOptions.withStore(create)
        }

        private func create(in store: any Store) async throws {
            let (email, name, scopes, tag, now) = (email, name, Set(scope), tag, Timestamp.now)
            let expiryDate = expires.map { now.adding($0.milliseconds) }
            let token = try await store.write { transaction in
                let account = try transaction.account(of: email)
                let tagID = try tag.map { name in
                    guard let id = try transaction.tag(named: TagName.fold(name), in: account.scope) else {
                        throw Failure("\(account.email) has no tag with the name \(name).")
                    }
                    return id
                }
                let token = NewToken(
                    name: name, access: TokenAccess(scopes, expiryDate: expiryDate, tag: tagID),
                    account: account.uniqueID, at: now)
                do { try token.insert(into: transaction, scope: account.scope) } catch let problem as Problem {
                    throw Failure(problem.detail)
                }
                return token
            }
            Terminal.printLine(token.text)
        }
    }

    /// The command `hesper account token list EMAIL`.
    struct ListTokens: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the access tokens of an account.")

        @Argument(help: "The account's e-mail address.") var email: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(list)
        }

        private func list(in store: any Store) async throws {
            let email = email
            let lines = try await store.read { snapshot in
                let account = try snapshot.account(of: email)
                let tokens = try snapshot.devices(
                    of: account.uniqueID, tokens: true, after: nil, limit: Limits.accessTokens)
                return try tokens.map { try ListTokens.line($0, account.scope, snapshot) }
            }
            lines.forEach(Terminal.printLine)
        }

        private static func line(_ token: Device, _ scope: ScopeID, _ snapshot: any Snapshot) throws -> String {
            guard let access = token.access else { return "" }
            var tag = ""
            if let id = access.tag {
                tag = "  tag \(id)"
                if case .entity(.tag(let entity), _)? = try snapshot.state(of: id, in: scope) {
                    tag = "  tag \(LogLine.escapedForTerminal(entity.name))"
                }
            }
            let use =
                token.lastUseDate > token.creationDate
                ? "last used \(token.lastUseDate) from \(token.lastUseAddress ?? "-")" : "never used"
            let end = access.expiryDate.map { "  until \($0)" } ?? ""
            return "\(token.node)  \(access.scopeNames)\(tag)\(end)  \(use)  \(LogLine.escapedForTerminal(token.name))"
        }
    }

    /// The command `hesper account token revoke EMAIL ID`.
    struct RevokeToken: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Revoke an access token, which becomes invalid immediately. Changes made with it remain.")

        @Argument(help: "The account's e-mail address.") var email: String
        @Argument(help: ArgumentHelp("The ID, as printed by account token list.", valueName: "id")) var token: String
        @OptionGroup var dataOptions: DataOptions

        func run() async throws {
            try await dataOptions.withStore(revoke)
        }

        private func revoke(in store: any Store) async throws {
            let (email, token) = (email, token)
            let (account, name) = try await store.write { transaction in
                let account = try transaction.account(of: email)
                guard let node = NodeID(token), let device = try transaction.device(node, of: account.uniqueID),
                    device.access != nil, try transaction.deleteDevice(node, of: account.uniqueID)
                else { throw Failure("\(account.email) has no access token with the ID \(token).") }
                return (account, device.name)
            }
            store.signals?.send([.sessionsChanged(account.scope)])
            Terminal.printLine("Revoked the access token \(LogLine.escapedForTerminal(name)) of \(account.email).")
        }
    }
}

extension TokenAccess.Scope: ExpressibleByArgument {}

extension Period: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
