import HesperModel
import HesperStore
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// The HTTP API of a store (protocol.md).
///
///     let server = try HesperServer(store: store, blobs: blobs, stage: stage, settings: settings, logger: logger)
///     try await server.application().runService()   // ends on SIGTERM, after accepted requests are complete
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
    private let revoker: Revoker
    /// Fired after each revocation, so that ``revoker`` starts immediately.
    private let revoking = Trigger()
    private let importWorker: ImportWorker
    private let eventHubService: EventHubService
    private let certificate: ServerCertificate?
    private let metrics: Metrics
    private let mailer: Mailer?
    private let webhooks: WebhookDeliverer

    /// - Throws: an error if the TLS files cannot be read or are invalid.
    public init(
        store: any Store, blobs: any BlobStore, stage: any UploadStage, settings: ServerSettings, logger: Logger
    ) throws {
        self.store = store
        self.settings = settings
        self.logger = logger
        ProcessStatus.begin()
        uses = DeviceUses(store: store, logger: logger)
        certificate = try settings.tls.map { try ServerCertificate($0, logger: logger) }
        let backend = Backend(store: store, blobs: blobs, grace: settings.sweep.grace, quota: settings.quota)
        indexer = TermIndexer(store: store, commits: { [queue = backend.queue] in queue.meter.reading.seconds.count })
        sweeper = Sweeper(
            store: store, queue: backend.queue, blobs: blobs, stage: stage, policy: settings.sweep, now: backend.now)
        revoker = Revoker(store: store, queue: backend.queue, now: backend.now)
        let intake = AttachmentIntake(backend: backend, limits: settings.attachments)
        let uploads = Uploads(backend: backend, intake: intake, stage: stage)
        importWorker = ImportWorker(
            backend: backend, stage: stage, limits: settings.imports,
            maximumAttachmentBytes: settings.attachments.largest, logger: logger)
        let pages = EventPages(backend: backend)
        eventHubService = EventHubService(hub: backend.hub, pages: pages, store: store, logger: logger)
        let cookies = SessionCookies()
        authenticator = Authenticator(store: store, cookies: cookies)
        let webApp = WebApp(folder: settings.webApp, logger: logger)
        hasWebApp = webApp.isAvailable
        mailer = settings.mail.map { Mailer(settings: $0, limits: settings.mailLimits, store: store, logger: logger) }
        let sender = WebhookSender(
            network: WebhookNetwork(allowed: settings.webhookNetworks), version: settings.version)
        webhooks = WebhookDeliverer(backend: backend, sender: sender, logger: logger)
        let accountResources = AccountResources(
            backend: backend, settings: settings, cookies: cookies, hasWebApp: hasWebApp, mailer: mailer,
            logger: logger)
        firstAccount = accountResources.firstAccount
        let changes = Changes(backend: backend)
        let search = SearchNotes(backend: backend, indexer: indexer, limits: settings.searches)
        var routes = Routes()
        let resources: [any Resource] = [
            ServerInfo(store: store, settings: settings),
            Health(store: store, disks: settings.disks),
            accountResources,
            Revocations(backend: backend, revoking: revoking),
            Documents(contract: settings.contract, logger: logger),
            webApp,
            Sync(backend: backend),
            changes,
            NoteList(changes: changes, search: search),
            TagList(backend: backend, changes: changes),
            DeletedObjects(backend: backend),
            Digests(backend: backend),
            ObjectResource(section: .notes, backend: backend),
            ObjectResource(section: .tags, backend: backend),
            ObjectResource(section: .attachments, backend: backend),
            AttachmentBytes(backend: backend, intake: intake, uploads: uploads),
            uploads,
            ObjectResource(section: .objects, backend: backend),
            NoteAdditions(backend: backend),
            Edits(backend: backend),
            RecentlyDeleted(backend: backend),
            search,
            Exports(backend: backend),
            Imports(backend: backend, stage: stage, limits: settings.imports, worker: importWorker),
            Webhooks(backend: backend, sender: sender),
            Events(backend: backend, pages: pages, authenticator: authenticator, uses: uses),
            Ephemerals(hub: backend.hub, rate: settings.ephemerals),
        ]
        for resource in resources { resource.add(to: &routes) }
        metrics = Metrics(
            backend: backend, settings: settings, meters: routes.meters, sweeper: sweeper, webhooks: webhooks.meter)
        metrics.add(to: &routes)
        self.routes = routes
    }

    /// A service that runs the server until graceful shutdown. On shutdown, the requests that were already accepted are
    /// completed.
    /// - Parameters:
    ///   - more: services that run together with the server.
    ///   - onRunning: called with the port when the server has begun to listen.
    public func application(
        with more: [any Service] = [], onRunning: @escaping @Sendable (Int?) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let dispatcher = Dispatcher(
            routes: routes, authenticator: authenticator,
            crossOrigin: CrossOrigin(
                origins: settings.origins, allowsLoopback: settings.allowsLoopbackOrigins),
            uses: uses, isSecure: certificate != nil, usesStrictTransport: settings.tls?.isOwn != true,
            proxies: TrustedProxies(ranges: settings.trustedProxies),
            requests: settings.requests.map { RateLimiter($0) }, load: Load(limit: settings.busyRequests),
            bodies: .perAccount("large bodies", settings.bodies))
        var services: [any Service] = [
            uses, eventHubService, BackgroundLoop.sweeping(sweeper, logger: logger),
            BackgroundLoop("Indexing", backoff: Backoff(first: TermIndexer.pauseAfterFailure), logger: logger) {
                try await indexer.step()
            },
            BackgroundLoop(
                "Undoing changes of lost devices", trigger: revoking,
                backoff: Backoff(first: Revoker.pauseAfterFailure), logger: logger
            ) {
                try await revoker.work()
                return Revoker.pause
            },
            importWorker.loop,
        ]
        services += webhooks.loops as [any Service]
        services += more
        if let address = settings.metrics { services.append(metricsService(on: address)) }
        if let mailer { services.append(mailer) }
        if let certificate { services.append(certificate.loop) }
        if certificate != nil, let port = settings.httpPort { services.append(redirect(from: port)) }
        return Application(
            responder: dispatcher, server: serverBuilder,
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: nil,
                availableConnectionsDelegate: .maximum(settings.connections.count, logger: logger)),
            services: services,
            onServerRunning: { await onRunning($0.localAddress?.port) }, logger: logger)
    }

    /// Whether there is no account yet.
    public func hasNoAccount() async throws -> Bool { try await store.read { try !$0.hasAccount() } }

    /// The link for creating the first account. It is valid under every sign-up policy. Nil if there is no web app, because the
    /// link opens the web app.
    /// - Parameter origin: scheme, host and port of the server, as a browser on the operator's machine reaches it.
    public func firstAccountLink(origin: String) -> String? {
        hasWebApp ? origin + WebApp.signUpPath(invitation: firstAccount.invitation) : nil
    }

    /// Serves `GET /metrics` on a separate address. Idle connections are closed, as on the main address.
    private func metricsService(on address: MetricsAddress) -> some Service {
        MetricsService(
            application: Application(
                responder: MetricsListener(metrics: metrics),
                server: .http1(configuration: http1(ConnectionPermits(limits: settings.connections, proxies: []))),
                configuration: ApplicationConfiguration(
                    address: .hostname(address.host, port: address.port), serverName: nil,
                    availableConnectionsDelegate: .maximum(MetricsListener.connections, logger: logger)),
                logger: logger),
            address: address)
    }

    /// Serves plain HTTP on a second port, in addition to TLS.
    private func redirect(from port: Int) -> some Service {
        PlainRedirectService(
            application: Application(
                responder: PlainRedirect(port: settings.port),
                server: .http1(
                    configuration: http1(
                        ConnectionPermits(limits: settings.connections, proxies: settings.trustedProxies))),
                configuration: ApplicationConfiguration(
                    address: .hostname(settings.host, port: port), serverName: nil,
                    availableConnectionsDelegate: .maximum(settings.connections.count, logger: logger)),
                logger: logger))
    }

    private var serverBuilder: HTTPServerBuilder {
        let permits = ConnectionPermits(limits: settings.connections, proxies: settings.trustedProxies)
        let http1 = http1(permits)
        guard let certificate else { return .http1(configuration: http1) }
        let streamPermits = ConnectionPermits(
            limits: settings.connections, of: \.streamsPerAddress, proxies: settings.trustedProxies)
        return HTTPServerBuilder { [limits = settings.connections] responder in
            let channel = HTTP1Channel(responder: responder, configuration: http1)
            return SecureChannel(
                certificate: certificate, http1: channel,
                http2: HTTP2Connection(limits: limits, permits: permits, streamPermits: streamPermits, http1: channel),
                handshakeSeconds: limits.handshakeSeconds)
        }
    }

    private func http1(_ permits: ConnectionPermits) -> HTTP1Channel.Configuration {
        let limits = settings.connections
        // The decoder counts the path as a header, so its limits are the sum of the limit for headers and the limit for the path.
        // ConnectionGuard enforces the limit for headers and the limit for the path separately.
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: Limits.headerBytes + limits.uriBytes,
            maxHeaderListSize: Limits.headerBytes + limits.uriBytes, maxHeaderFieldCount: 128)
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(limits: limits, permits: permits)],
            idleTimeout: .seconds(Int64(limits.idleSeconds)), httpDecoderConfiguration: decoder)
    }
}
