import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// Responds to `GET /metrics` with the metrics of this server for Prometheus. The metrics are numbers about the whole server. They
/// contain nothing about single accounts.
struct Metrics: Sendable {
    let backend: Backend
    let settings: ServerSettings
    let meters: [RouteMeter]
    private let sweeper: Sweeper
    private let webhooks: WebhookMeter
    private let reader: TotalsReader

    init(
        backend: Backend, settings: ServerSettings, meters: [RouteMeter], sweeper: Sweeper, webhooks: WebhookMeter
    ) {
        self.webhooks = webhooks
        self.backend = backend
        self.sweeper = sweeper
        self.settings = settings
        self.meters = meters
        reader = TotalsReader(store: backend.store)
    }

    private static let manyScopes = 1_000

    func response() async -> Response {
        let text = await text()
        return Response(
            status: .ok,
            headers: [.contentType: MetricsText.contentType, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    func text() async -> String {
        var text = MetricsText()
        text.family("hesper_info", "gauge", "Version of the server.")
        text.sample("hesper_info", [("version", settings.version)], 1)
        add(requestsTo: &text)
        add(commitsTo: &text)
        text.gauge("hesper_event_streams", "Open event streams on this server.", backend.hub.listenerCount)
        let blocker = await sweeper.removalBlocker
        text.gauge(
            "hesper_attachment_removal_stopped", "1 if unused attachments are not removed. See the log for the reason.",
            blocker == nil || blocker == .unmarked ? 0 : 1)
        let requests = webhooks.reading
        text.family("hesper_webhook_requests_total", "counter", "Requests to receivers of webhooks.")
        for (outcome, count) in [("delivered", requests.delivered), ("failed", requests.failed)] {
            text.sample("hesper_webhook_requests_total", [("outcome", outcome)], count)
        }
        await add(storeTo: &text)
        if !settings.disks.isEmpty {
            text.family("hesper_disk_free_bytes", "gauge", "Free disk space that the server can use, by folder.")
        }
        for disk in settings.disks {
            if let space = Disk.space(at: disk.path) {
                text.sample("hesper_disk_free_bytes", [("folder", disk.name)], space.free)
            }
        }
        settings.backups?.add(to: &text)
        ProcessStatus.now()?.add(to: &text)
        return text.text
    }

    /// Adds the number and duration of requests, for all routes that were requested at least once.
    private func add(requestsTo text: inout MetricsText) {
        let used = meters.map { ($0, $0.reading) }.filter { $0.1.seconds.count > 0 }
            .sorted { ($0.0.path, $0.0.method) < ($1.0.path, $1.0.method) }
        text.family("hesper_http_requests_total", "counter", "Completed requests.")
        for (meter, reading) in used {
            for (status, count) in reading.statuses.sorted(by: { $0.key < $1.key }) {
                text.sample(
                    "hesper_http_requests_total",
                    [("method", meter.method), ("route", meter.path), ("status", String(status))], count)
            }
        }
        text.family(
            "hesper_http_request_duration_seconds", "histogram",
            "Time from the headers of a request to the headers of its response.")
        for (meter, reading) in used {
            text.histogram(
                "hesper_http_request_duration_seconds", [("method", meter.method), ("route", meter.path)],
                reading.seconds)
        }
    }

    private func add(commitsTo text: inout MetricsText) {
        let reading = backend.queue.meter.reading
        text.family("hesper_commit_duration_seconds", "histogram", "Time until a commit is durable.")
        text.histogram("hesper_commit_duration_seconds", [], reading.seconds)
        text.family("hesper_commit_writes", "histogram", "Writes per commit.")
        text.histogram("hesper_commit_writes", [], reading.sizes)
        text.counter("hesper_commit_failures_total", "Failed commits.", reading.failures)
    }

    private func add(storeTo text: inout MetricsText) async {
        if let pool = backend.store.poolStatus {
            text.family("hesper_database_connections", "gauge", "Connections to PostgreSQL for requests.")
            for (state, count) in [("busy", pool.busy), ("idle", pool.idle)] {
                text.sample("hesper_database_connections", [("state", state)], count)
            }
            text.gauge(
                "hesper_database_connections_limit", "Maximum number of connections to PostgreSQL for requests.",
                pool.limit)
            text.gauge("hesper_database_waiting", "Requests that wait for a connection.", pool.waiting)
        }
        // The metrics of the database are read on each request and not cached, so that hesper_store_up is current. The cost of the
        // queries does not depend on the number of accounts.
        let found = try? await backend.store.read { snapshot in
            _ = try snapshot.account(emailKey: "")
            return (
                toIndex: try snapshot.scopesToIndex(after: nil, limit: Metrics.manyScopes).count,
                walk: try snapshot.blobStoreRecord().walk
            )
        }
        text.gauge("hesper_store_up", "1 if the database responds.", found == nil ? 0 : 1)
        guard let (toIndex, walk) = found else { return }
        text.gauge(
            "hesper_scopes_to_index", "Accounts with an outdated search index, counted up to \(Metrics.manyScopes).",
            toIndex)
        if let walk {
            text.gauge(
                "hesper_unknown_attachment_files",
                "Attachment files that the last daily check did not find in the database.", walk.unknownFiles)
            text.gauge(
                "hesper_unknown_attachment_bytes", "Size of the files that hesper_unknown_attachment_files counts.",
                walk.unknownBytes)
        }
        guard let (totals, age) = try? await reader.totals() else { return }
        text.gauge("hesper_accounts", "Number of accounts.", totals.accounts)
        text.gauge("hesper_devices", "Number of signed-in devices.", totals.devices)
        text.gauge("hesper_blob_bytes", "Total size of all attachments.", totals.blobBytes)
        text.gauge(
            "hesper_totals_age_seconds", "Age of hesper_accounts, hesper_devices and hesper_blob_bytes.", age.inSeconds)
    }
}

extension Metrics: Resource {
    /// Adds the route `/metrics`, for requests from this machine only. If a separate address is configured for metrics, the route
    /// is not added, because it is served at that address.
    func add(to routes: inout Routes) {
        guard settings.metrics == nil else { return }
        routes.open(.get, "/metrics", cache: .never, isInContract: false) { request in
            guard request.isFromThisMachine else {
                throw Problem(.notFound, "/metrics is available only from this machine.")
            }
            return await response()
        }
    }
}
