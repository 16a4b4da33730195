import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `GET /metrics`, for Prometheus: counts, no names. Nothing in it tells of one account.
struct Metrics: Sendable {
    let backend: Backend
    let settings: ServerSettings
    let meters: [RouteMeter]
    private let sweeper: Sweeper
    private let reader: TotalsReader

    init(backend: Backend, settings: ServerSettings, meters: [RouteMeter], sweeper: Sweeper) {
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
        text.family("hesper_info", "gauge", "Which version this is.")
        text.sample("hesper_info", [("version", settings.version)], 1)
        add(requestsTo: &text)
        add(commitsTo: &text)
        text.gauge("hesper_event_streams", "Open streams of events on this server.", backend.hub.listenerCount)
        let blocker = await sweeper.removalBlocker
        text.gauge(
            "hesper_attachment_removal_stopped", "1 while no bytes of attachments are removed; the log has the reason.",
            blocker == nil || blocker == .unmarked ? 0 : 1)
        await add(storeTo: &text)
        if !settings.disks.isEmpty {
            text.family("hesper_disk_free_bytes", "gauge", "Room on the disk of a folder, for this user.")
        }
        for disk in settings.disks {
            if let room = Disk.room(at: disk.path) {
                text.sample("hesper_disk_free_bytes", [("folder", disk.name)], room.free)
            }
        }
        settings.backups?.add(to: &text)
        ProcessStatus.now()?.add(to: &text)
        return text.text
    }

    /// Only routes that somebody has asked for.
    private func add(requestsTo text: inout MetricsText) {
        let used = meters.map { ($0, $0.reading) }.filter { $0.1.seconds.count > 0 }
            .sorted { ($0.0.path, $0.0.method) < ($1.0.path, $1.0.method) }
        text.family("hesper_http_requests_total", "counter", "Requests that were answered.")
        for (meter, reading) in used {
            for (status, count) in reading.statuses.sorted(by: { $0.key < $1.key }) {
                text.sample(
                    "hesper_http_requests_total",
                    [("method", meter.method), ("route", meter.path), ("status", String(status))], count)
            }
        }
        text.family(
            "hesper_http_request_duration_seconds", "histogram", "From a request's head until that of its answer.")
        for (meter, reading) in used {
            text.histogram(
                "hesper_http_request_duration_seconds", [("method", meter.method), ("route", meter.path)],
                reading.seconds)
        }
    }

    private func add(commitsTo text: inout MetricsText) {
        let reading = backend.queue.meter.reading
        text.family("hesper_commit_duration_seconds", "histogram", "Commits, until they are durable.")
        text.histogram("hesper_commit_duration_seconds", [], reading.seconds)
        text.family("hesper_commit_writes", "histogram", "Writes that shared a commit.")
        text.histogram("hesper_commit_writes", [], reading.sizes)
        text.counter("hesper_commit_failures_total", "Commits of which nothing was kept.", reading.failures)
    }

    private func add(storeTo text: inout MetricsText) async {
        if let pool = backend.store.poolStatus {
            text.family("hesper_database_connections", "gauge", "Connections to PostgreSQL for requests.")
            for (state, count) in [("busy", pool.busy), ("idle", pool.idle)] {
                text.sample("hesper_database_connections", [("state", state)], count)
            }
            text.gauge("hesper_database_connections_limit", "How many there may be.", pool.limit)
            text.gauge("hesper_database_waiting", "Requests that wait for a connection.", pool.waiting)
        }
        // Asked each time: that the database answers is no minute old, and neither question costs more with more accounts.
        let found = try? await backend.store.read { snapshot in
            _ = try snapshot.account(emailKey: "")
            return (
                toIndex: try snapshot.scopesToIndex(after: nil, limit: Metrics.manyScopes).count,
                walk: try snapshot.blobStoreRecord().walk
            )
        }
        text.gauge("hesper_store_up", "Whether the database answers.", found == nil ? 0 : 1)
        guard let (toIndex, walk) = found else { return }
        text.gauge(
            "hesper_scopes_to_index", "Accounts whose search index is behind, counted up to \(Metrics.manyScopes).",
            toIndex)
        if let walk {
            text.gauge(
                "hesper_unknown_attachment_files",
                "Files of attachments that the database does not know, at the last daily walk.", walk.unknownFiles)
            text.gauge("hesper_unknown_attachment_bytes", "The bytes of these files.", walk.unknownBytes)
        }
        guard let (totals, age) = try? await reader.totals() else { return }
        text.gauge("hesper_accounts", "Accounts.", totals.accounts)
        text.gauge("hesper_devices", "Devices that are signed in.", totals.devices)
        text.gauge("hesper_blob_bytes", "The bytes of all attachments together.", totals.blobBytes)
        text.gauge(
            "hesper_totals_age_seconds", "How long ago accounts, devices and these bytes were counted.", age.inSeconds)
    }
}

extension Metrics: Resource {
    /// On the server's own address only while no other is named for it, and for this machine alone.
    func add(to routes: inout Routes) {
        guard settings.metrics == nil else { return }
        routes.open(.get, "/metrics", keeping: .never, isInContract: false) { call in
            guard call.isFromThisMachine else { throw Problem(.notFound, "There is no /metrics for you here.") }
            return await response()
        }
    }
}
