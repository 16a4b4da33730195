import HTTPTypes
import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// A device's request that the store may have to hear of, because the last it heard of is a minute ago (storage.md,
/// Tables). What it asked for more of, with which token, is heard of for itself: thinning keeps what it may start from.
final class DeviceUse: Sendable {
    let node: NodeID
    let date: Timestamp
    let userAgent: String?
    /// Where it came from. The store keeps the last alone: where somebody has been is nobody's business.
    let address: String?
    private let isUseDue: Bool
    private let sequence = NIOLockedValueBox<Int64?>(nil)

    /// How often a device's use is written, in milliseconds.
    static let interval: Int64 = 60_000
    /// Of a `User-Agent`, this many bytes are kept.
    static let userAgentBytes = 256

    /// Nil if the store knows enough.
    init?(
        of session: Session, userAgent headers: HTTPFields, from address: @autoclosure () -> ClientAddress,
        at date: Timestamp = .now
    ) {
        func isDue(_ last: Timestamp?) -> Bool {
            last.map { date.milliseconds - $0.milliseconds >= DeviceUse.interval } ?? true
        }
        isUseDue = isDue(session.device.lastUseDate)
        guard isUseDue || isDue(session.device.readDate) else { return nil }
        node = session.device.node
        self.date = date
        userAgent = DeviceUse.userAgent(of: headers)
        self.address = address().text
    }

    /// That of a stream that is open since long before.
    init(of node: NodeID, hasRead sequence: Int64, at date: Timestamp) {
        self.node = node
        self.date = date
        userAgent = nil
        address = nil
        isUseDue = true
        readSequence = sequence
    }

    /// Whether the store shall hear of it.
    var isNews: Bool { isUseDue || readSequence != nil }

    /// How far the device has read of the notes: set by the handlers that take a token.
    var readSequence: Int64? {
        get { sequence.withLockedValue { $0 } }
        set { sequence.withLockedValue { $0 = newValue } }
    }

    static func userAgent(of headers: HTTPFields) -> String? {
        headers[.userAgent].map { String(decoding: $0.utf8.prefix(userAgentBytes), as: UTF8.self) }
    }
}

/// Writes the uses of devices behind the requests, many in one transaction.
final class DeviceUses: Service {
    /// Waiting to be written at most; what comes then is heard of a minute later.
    static let capacity = 10_000

    private let store: any Store
    private let logger: Logger
    private let waiting = NIOLockedValueBox<[NodeID: DeviceUse]>([:])
    private let wake: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(store: any Store, logger: Logger) {
        self.store = store
        self.logger = logger
        (wake, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func record(_ use: DeviceUse) {
        waiting.withLockedValue { waiting in
            guard waiting.count < DeviceUses.capacity || waiting[use.node] != nil else { return }
            if use.readSequence == nil { use.readSequence = waiting[use.node]?.readSequence }
            waiting[use.node] = use
        }
        continuation.yield()
    }

    func run() async throws {
        for await _ in wake.cancelOnGracefulShutdown() { await write() }
        await write()
    }

    /// What waits to be written, taken. Two servers that write the uses of the same devices lock these in one order: neither
    /// waits for the other in a circle.
    func taken() -> [DeviceUse] {
        waiting.withLockedValue { waiting in
            defer { waiting = [:] }
            return waiting.values.sorted { $0.node < $1.node }
        }
    }

    private func write() async {
        let uses = taken()
        guard !uses.isEmpty else { return }
        do {
            try await store.write { transaction in
                for use in uses {
                    try transaction.recordUse(
                        of: use.node, at: use.date, appVersion: nil, userAgent: use.userAgent,
                        address: use.address, readSequence: use.readSequence)
                }
            }
        } catch {
            OutageLog.shared.tell("The last uses of \(uses.count) devices were not recorded", error, logger: logger)
        }
    }
}
