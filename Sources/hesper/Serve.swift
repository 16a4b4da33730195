import ArgumentParser
import Foundation
import HesperBlobs
import HesperServer
import HesperStore
import Logging
import ServiceLifecycle

/// `hesper serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the API over HTTP until SIGTERM or SIGINT.",
        discussion: """
            What was accepted is finished before it ends. Every flag can be set by a variable and in a file as well: see \
            hesper --help.
            """)

    @Option(help: ArgumentHelp("Where to listen (HESPER_HOST; default: 127.0.0.1).", valueName: "name or address"))
    var host: String?

    @Option(help: ArgumentHelp("The port, 0 for any that is free (HESPER_PORT; default: 8080).", valueName: "number"))
    var port: String?

    @OptionGroup var linkOptions: LinkOptions
    @OptionGroup var dataOptions: DataOptions

    @Option(
        help: ArgumentHelp(
            "The folder of Public, the web app, and openapi.yaml (HESPER_PUBLIC; default: share/hesper beside the folder "
                + "of the binary, else the working directory).", valueName: "folder"))
    var `public`: String?

    @Option(
        help: ArgumentHelp(
            "Who may make an account: open, invite or closed (HESPER_SIGN_UP; default: open while only this machine can connect).",
            valueName: "policy"))
    var signUp: String?

    @Option(
        help: ArgumentHelp(
            "An origin whose pages may call the API, such as https://notes.example.org; once for each "
                + "(HESPER_CORS_ORIGINS, separated by commas).", valueName: "origin"))
    var corsOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "A proxy that may say where a request comes from (X-Forwarded-For, -Proto, -Host): its address, or a network such as "
                + "10.0.0.0/8; once for each (HESPER_TRUSTED_PROXIES, separated by commas).", valueName: "address"))
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "How large one attachment may be (HESPER_ATTACHMENT_SIZE; default: 100MiB).", valueName: "bytes"))
    var attachmentSize: String?

    @Option(
        help: ArgumentHelp(
            "How many bytes an account may store, or none for any number (HESPER_QUOTA; default: 10GiB).",
            valueName: "bytes"))
    var quota: String?

    @Option(
        help: ArgumentHelp(
            "How long superseded values are kept: all of them for the first time, one an hour until the second, then one a "
                + "day; or forever (HESPER_HISTORY; default: 1d,30d).", valueName: "times"))
    var history: String?

    @Option(
        help: ArgumentHelp(
            "How long what was deleted can be put back (HESPER_GRACE; default: 30d).", valueName: "time"))
    var grace: String?

    @Option(
        help: ArgumentHelp(
            "How many requests an account may send a minute, or none for as many as it likes (HESPER_REQUESTS_PER_MINUTE; "
                + "default: 12000).", valueName: "number"))
    var requestsPerMinute: String?

    @Option(
        help: ArgumentHelp(
            "What a new password costs to try, for the server too: 2^number KiB of memory, 14 to 20 (HESPER_PASSWORD_COST; "
                + "default: 17).", valueName: "number"))
    var passwordCost: String?

    @Option(
        help: ArgumentHelp(
            "trace, debug, info, notice, warning, error or critical (HESPER_LOG_LEVEL; default: info).",
            valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "text, for people, or json, an object a line (HESPER_LOG_FORMAT; default: text).", valueName: "format"))
    var logFormat: String?

    @Option(
        help: ArgumentHelp(
            "Where /metrics is to be had, and nothing else, such as 127.0.0.1:9464 (HESPER_METRICS; default: beside the API, "
                + "for this machine alone).", valueName: "address"))
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "self-signed for HTTPS with a certificate that Hesper makes for itself, in the data folder (HESPER_TLS; default: "
                + "plain HTTP, unless there is a certificate).", valueName: "way"))
    var tls: String?

    @Option(
        help: ArgumentHelp("The certificate and its chain, in PEM (HESPER_TLS_CERTIFICATE).", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The certificate's private key, in PEM (HESPER_TLS_KEY).", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "A port where plain HTTP is sent on to HTTPS (HESPER_HTTP_PORT; default: none).", valueName: "number"))
    var httpPort: String?

    @Option(
        help: ArgumentHelp(
            "A command that takes a message as sendmail does, such as \"/usr/sbin/sendmail -t -i\": split at spaces, run without a "
                + "shell (HESPER_SENDMAIL; default: no mail). Needs --mail-from and --url.", valueName: "command"))
    var sendmail: String?

    @Option(help: ArgumentHelp("Whom letters are from (HESPER_MAIL_FROM).", valueName: "e-mail address"))
    var mailFrom: String?

    @Option(
        help: ArgumentHelp(
            "A folder for dated backups, which the server makes while it runs. It must exist (HESPER_BACKUP_TO; default: none).",
            valueName: "folder"))
    var backupTo: String?

    @Option(
        help: ArgumentHelp(
            "The time from one backup to the next, such as 12h (HESPER_BACKUP_EVERY; default: 1d).", valueName: "time"))
    var backupEvery: String?

    @Option(
        help: ArgumentHelp("How many complete backups to keep (HESPER_BACKUP_KEEP; default: 7).", valueName: "number"))
    var backupKeep: String?

    private var flags: [Setting: [String]] {
        let single: [Setting: String?] = [
            .host: host, .port: port, .public: self.public, .signUp: signUp, .logLevel: logLevel,
            .logFormat: logFormat, .metrics: metrics, .tls: tls, .tlsCertificate: tlsCertificate,
            .tlsKey: tlsKey, .httpPort: httpPort, .attachmentSize: attachmentSize, .quota: quota, .history: history,
            .grace: grace,
            .requestsPerMinute: requestsPerMinute, .sendmail: sendmail,
            .mailFrom: mailFrom, .passwordCost: passwordCost, .backupTo: backupTo, .backupEvery: backupEvery,
            .backupKeep: backupKeep,
        ]
        var flags = single.compactMapValues { $0.map { [$0] } }
        if !corsOrigin.isEmpty { flags[.corsOrigins] = corsOrigin }
        if !trustedProxy.isEmpty { flags[.trustedProxies] = trustedProxy }
        return flags.merging(linkOptions.flags) { $1 }
    }

    func run() async throws {
        let settings = try dataOptions.ownSettings(flags)
        var server = try settings.server()
        let (level, format, url) = (try settings.logLevel(), try settings.logFormat(), try settings.url())
        let (database, connections) = (try settings.database(), try settings.databaseConnections())
        let attachments = try settings.attachments()
        let own = try settings.ownCertificate()
        let schedule = try settings.backupSchedule()
        let meter = BackupMeter()
        if schedule != nil { server.backups = meter }
        let share = ShareFolder.find(named: try settings.publicFolder())
        server.contract = share.contract
        server.webApp = share.webApp

        LoggingSystem.bootstrap { _ in LineLogHandler(format: format, logLevel: level) }
        let logger = Logger(label: "hesper")
        for warning in settings.warnings { logger.warning("\(warning)") }
        for missing in share.missing { logger.warning("\(missing)") }
        if let command = server.mail?.command, !command.isThere {
            logger.warning("No letter can be sent: \(command.program) is no program that this user may run.")
        }
        if let files = OpenFiles.raise(for: server.connections.count) {
            logger.warning(
                "Only \(files) files and connections may be open at once (ulimit -n): some clients may have to wait.")
        }
        if case .postgres = database, !S3Location.isMeant(by: attachments) {
            logger.warning(
                "Attachments are in the folder \(attachments): all servers on this database need that very one, or S3.")
        }
        if let warning = own?.names.warning(host: server.host) { logger.warning("\(warning)") }
        try await database.whileOpen(making: true, connections: connections) { store in
            let blobs = try await settings.openBlobs {
                logger.error("Attachments are not to be had for now: \($0).")
            }
            try await checkClaim(store, blobs, logger)
            let stage = try store.uploadStage ?? UploadFolder(path: settings.uploads)
            // With the store open, so that nothing is put into a folder that is only partly restored.
            var instructions: [String] = []
            if let own { instructions = try own.instructions(try await own.prepare().authority) }
            var services: [any Service] = []
            if let own { services.append(own.renewal(logger)) }
            if let schedule {
                services.append(
                    ScheduledBackups(
                        schedule: schedule, installation: store.installation.node, blobs: blobs, meter: meter,
                        logger: logger))
            }
            try await serve(store, blobs, stage, server, at: url, instructions, services, logger)
        }
    }

    /// - Throws: ``Failure`` if the attachments are of another installation, or the database of these was lost.
    private func checkClaim(_ store: any Store, _ blobs: any BlobStore, _ logger: Logger) async throws {
        do {
            guard let obstacle = try await BlobClaim(store: store, blobs: blobs).obstacle(), obstacle.forbidsServing
            else { return }
            throw Failure("\(obstacle)", .settings)
        } catch let error as StoreError {
            logger.warning(
                "The marker of the attachments cannot be read; until it can, no bytes are removed",
                metadata: ["error": "\(error)"])
        }
    }

    private func serve(
        _ store: any Store, _ blobs: any BlobStore, _ stage: any UploadStage, _ settings: ServerSettings,
        at url: String?, _ instructions: [String], _ services: [any Service], _ logger: Logger
    ) async throws {
        let server: HesperServer
        do {
            server = try HesperServer(store: store, blobs: blobs, stage: stage, settings: settings, logger: logger)
        } catch {
            throw Failure("The certificate or its key is no good: \(error)", .settings)
        }
        let application = server.application(with: services) { port in
            let address = ListeningAddress(settings, port: port)
            Terminal.say("Hesper listens on \(address.origin)")
            for line in instructions { Terminal.say(line) }
            do {
                if try await server.hasNoAccount() {
                    let link = server.firstAccountLink(origin: url ?? address.link)
                    let way =
                        link.map { "This link makes the first one, once: \($0)" }
                        ?? "Make the first one with: hesper account create EMAIL"
                    Terminal.say("There is no account yet. \(way)")
                }
            } catch {
                logger.error("Whether there is an account is not known: \(error).")
            }
        }
        do {
            try await application.runService(gracefulShutdownSignals: [.sigterm, .sigint])
        } catch let error as PlainRedirectFailure {
            throw ListeningAddress(settings, port: settings.httpPort).failure(error.cause, setting: .httpPort)
                ?? error.cause
        } catch let error as MetricsUnavailable {
            throw Failure(
                "Nothing can listen on \(error.address), as --metrics or HESPER_METRICS wants it: \(error.why)",
                .settings)
        } catch {
            throw ListeningAddress(settings, port: settings.port).failure(error) ?? error
        }
    }
}
