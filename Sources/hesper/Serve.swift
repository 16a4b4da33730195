import ArgumentParser
import Foundation
import HesperBlobs
import HesperServer
import HesperStore
import Logging
import ServiceLifecycle

/// The command `hesper serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the API over HTTP until SIGTERM or SIGINT.",
        discussion: """
            Requests in progress are completed before the server exits. Every option can also be set by an environment variable or \
            in a settings file. See hesper --help.
            """)

    @OptionGroup var serveOptions: ServeOptions
    @OptionGroup var linkOptions: LinkOptions
    @OptionGroup var dataOptions: DataOptions

    /// The settings that were given as options.
    var flags: [Setting: [String]] {
        serveOptions.flags.merging(linkOptions.flags) { $1 }.merging(dataOptions.allFlags) { $1 }
    }

    func run() async throws {
        let settings = try Settings(flags: flags, config: dataOptions.locationOptions.config)
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
        server.imports.folder = URL(filePath: settings.imports).absoluteURL.path
        server.webApp = share.webApp

        LoggingSystem.bootstrap { _ in LineLogHandler(format: format, logLevel: level) }
        let logger = Logger(label: "hesper")
        for warning in settings.warnings { logger.warning("\(warning)") }
        for missing in share.missing { logger.warning("\(missing)") }
        if let command = server.mail?.command, !command.isThere {
            logger.warning("Cannot send e-mail: \(command.program) is not an executable file for this user")
        }
        if let files = OpenFiles.raise(for: server.connections.count) {
            logger.warning(
                "Only \(files) files and connections may be open at the same time (ulimit -n). Some clients may have to wait."
            )
        }
        if case .postgres = database, !S3Location.isURL(attachments) {
            logger.warning(
                "Attachments are in the folder \(attachments). All servers on this database must use the same folder, or S3."
            )
        }
        if let warning = own?.names.warning(host: server.host) { logger.warning("\(warning)") }
        try await database.whileOpen(making: true, connections: connections) { store in
            let blobs = try await settings.openBlobs {
                logger.error("Attachment storage unavailable", metadata: ["error": "\($0)"])
            }
            try await checkClaim(store, blobs, logger)
            let stage = try store.uploadStage ?? UploadFolder(path: settings.uploads)
            // The certificate is created after the store was opened. Opening the store fails if the data folder is only partly
            // restored, and no certificate must be written to such a folder.
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

    /// Checks that the server may use the attachments.
    /// - Throws: ``Failure`` if the attachments belong to another installation, or if the database to which they belong was
    ///   lost.
    private func checkClaim(_ store: any Store, _ blobs: any BlobStore, _ logger: Logger) async throws {
        do {
            guard let blocker = try await BlobClaim(store: store, blobs: blobs).removalBlocker(), blocker.forbidsServing
            else { return }
            throw Failure("\(blocker)", .settings)
        } catch let error as StoreError {
            logger.warning(
                "Cannot read the marker of the attachments; no attachments are removed until it can be read",
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
            throw Failure("Cannot use the TLS certificate and key: \(error)", .settings)
        }
        let application = server.application(with: services) { port in
            let address = ListeningAddress(settings, port: port)
            Terminal.printLine("Hesper listens on \(address.origin)")
            for line in instructions { Terminal.printLine(line) }
            do {
                if try await server.hasNoAccount() {
                    let link = server.firstAccountLink(origin: url ?? address.link)
                    let hint =
                        link.map { "Create the first one with this link, which works once: \($0)" }
                        ?? "Create the first one with: hesper account create EMAIL"
                    Terminal.printLine("There are no accounts yet. \(hint)")
                }
            } catch {
                logger.error("Cannot check whether an account exists", metadata: ["error": "\(error)"])
            }
        }
        do {
            try await application.runService(gracefulShutdownSignals: [.sigterm, .sigint])
        } catch let error as PlainRedirectFailure {
            throw ListeningAddress(settings, port: settings.httpPort).failure(error.cause, setting: .httpPort)
                ?? error.cause
        } catch let error as MetricsUnavailable {
            throw Failure(
                "Cannot listen on \(error.address), set with --metrics or HESPER_METRICS: \(error.why)",
                .settings)
        } catch {
            throw ListeningAddress(settings, port: settings.port).failure(error) ?? error
        }
    }
}
