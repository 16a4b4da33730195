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

    @OptionGroup var serveOptions: ServeOptions
    @OptionGroup var linkOptions: LinkOptions
    @OptionGroup var dataOptions: DataOptions

    /// The settings that flags name.
    var flags: [Setting: [String]] {
        serveOptions.flags.merging(linkOptions.flags) { $1 }.merging(dataOptions.allFlags) { $1 }
    }

    func run() async throws {
        let settings = try Settings(flags: flags, config: dataOptions.placeOptions.config)
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
            guard let blocker = try await BlobClaim(store: store, blobs: blobs).removalBlocker(), blocker.forbidsServing
            else { return }
            throw Failure("\(blocker)", .settings)
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
