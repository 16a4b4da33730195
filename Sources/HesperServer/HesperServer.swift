import HesperModel
import HesperStore
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import ServiceLifecycle

/// The HTTP API over a store (protocol.md).
///
///     let server = try HesperServer(store: store, blobs: blobs, stage: stage, settings: settings, logger: logger)
///     try await server.application().runService()   // ends on SIGTERM, after what it accepted is answered
public struct HesperServer: Sendable {
    let store: any Store
    let settings: ServerSettings
    let logger: Logger
    let routes: Routes
    private let firstAccount: FirstAccount
    private let hasWebApp: Bool
    private let authenticator: Authenticator
    private let uses: DeviceUses
    private let indexer: TermIndexer
    private let sweeper: Sweeper
    private let listening: Listening
    private let serverBuilder: HTTPServerBuilder

    /// - Throws: what is wrong with the files of TLS.
    public init(
        store: any Store, blobs: any BlobStore, stage: any UploadStage, settings: ServerSettings, logger: Logger
    ) throws {
        self.store = store
        self.settings = settings
        self.logger = logger
        uses = DeviceUses(store: store, logger: logger)
        serverBuilder = try HesperServer.builder(settings)
        indexer = TermIndexer(store: store)
        let backend = Backend(store: store, blobs: blobs, grace: settings.sweep.grace)
        sweeper = Sweeper(
            store: store, queue: backend.queue, blobs: blobs, stage: stage, policy: settings.sweep, now: backend.now)
        let intake = AttachmentIntake(backend: backend, limits: settings.attachments)
        let uploads = Uploads(backend: backend, intake: intake, stage: stage)
        let pages = EventPages(backend: backend)
        listening = Listening(hub: backend.hub, pages: pages, store: store, logger: logger)
        let cookies = SessionCookies(isSecure: settings.tls != nil)
        authenticator = Authenticator(store: store, cookies: cookies)
        let signingIn = SigningIn(backend: backend, settings: settings, cookies: cookies)
        firstAccount = signingIn.firstAccount
        let webApp = WebApp(folder: settings.webApp, logger: logger)
        hasWebApp = webApp.isThere
        var routes = Routes()
        let resources: [any Resource] = [
            ServerInfo(store: store, settings: settings),
            Health(store: store),
            signingIn,
            Documents(contract: settings.contract, logger: logger),
            webApp,
            Sync(backend: backend),
            Changes(backend: backend),
            DeletedObjects(backend: backend),
            Digests(backend: backend),
            ObjectResource(section: .notes, backend: backend),
            ObjectResource(section: .tags, backend: backend),
            ObjectResource(section: .attachments, backend: backend),
            AttachmentBytes(backend: backend, intake: intake, uploads: uploads),
            uploads,
            ObjectResource(section: .objects, backend: backend),
            Edits(backend: backend),
            RecentlyDeleted(backend: backend),
            SearchNotes(backend: backend, indexer: indexer),
            Exports(backend: backend),
            Events(backend: backend, pages: pages, authenticator: authenticator, uses: uses),
            Ephemerals(hub: backend.hub, rate: settings.ephemerals),
        ]
        for resource in resources { resource.add(to: &routes) }
        self.routes = routes
    }

    /// A service that serves until it is shut down gracefully; requests that were accepted are answered first.
    /// - Parameter onRunning: called with the port once it listens.
    public func application(onRunning: @escaping @Sendable (Int?) async -> Void = { _ in }) -> some ApplicationProtocol
    {
        let dispatcher = Dispatcher(
            routes: routes, authenticator: authenticator,
            crossOrigin: CrossOrigin(
                origins: settings.origins, allowsLoopback: settings.allowsLoopbackOrigins),
            uses: uses)
        var services: [any Service] = [
            uses, listening, Indexing(indexer: indexer, logger: logger), Sweeping(sweeper: sweeper, logger: logger),
        ]
        if let replica = store.replica { services.append(Following(replica: replica, logger: logger)) }
        return Application(
            responder: dispatcher, server: serverBuilder,
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: nil,
                availableConnectionsDelegate: .maximum(settings.connections.count, logger: logger)),
            services: services,
            onServerRunning: { await onRunning($0.localAddress?.port) }, logger: logger)
    }

    /// The link that makes the first account, whatever the sign-up policy; nil if there is an account.
    /// - Parameter origin: scheme, host and port, as a browser on the operator's machine reaches this server.
    public func firstAccountLink(origin: String) async throws -> String? {
        try await store.read { try $0.accounts() }.isEmpty ? origin + firstAccount.path(inWebApp: hasWebApp) : nil
    }

    private static func builder(_ settings: ServerSettings) throws -> HTTPServerBuilder {
        let limits = settings.connections
        // The decoder counts the address among the headers; ConnectionGuard counts both exactly.
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Limits.headerBytes + limits.uriBytes,
            maxHeaderListSize: Limits.headerBytes + limits.uriBytes, maxHeaderFieldCount: 128)
        let http = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ConnectionGuard(limits: limits)],
                idleTimeout: .seconds(Int64(limits.idleSeconds)), httpDecoderConfiguration: decoder))
        guard let files = settings.tls else { return http }
        return try .tls(http, tlsConfiguration: files.configuration())
    }
}
