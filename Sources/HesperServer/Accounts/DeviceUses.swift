import HTTPTypes
import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// A use of a device that may have to be recorded, because the last recorded one is a minute ago (storage.md, Tables). The last
/// read position is recorded as well, because thinning retains what the device may start from.
final class DeviceUse: Sendable {
    let node: NodeID
    let date: Timestamp
    let userAgent: String?
    /// The address of the client. Only the last one is stored, so that no movement profile arises.
    let address: String?
    private let isUseDue: Bool
    private let sequence = NIOLockedValueBox<Int64?>(nil)

    /// The minimum time between two recorded uses of a device, in milliseconds.
    static let interval: Int64 = 60_000
    /// The maximum number of bytes of `User-Agent` that are stored.
    static let userAgentBytes = 256

    /// Nil if neither the use nor the read position is due.
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

    /// The use of a device by an event stream.
    init(of node: NodeID, hasRead sequence: Int64, at date: Timestamp) {
        self.node = node
        self.date = date
        userAgent = nil
        address = nil
        isUseDue = true
        readSequence = sequence
    }

    /// Whether the use has to be recorded.
    var isDue: Bool { isUseDue || readSequence != nil }

    /// The sequence up to which the device has read notes; set by handlers that receive a sync token.
    var readSequence: Int64? {
        get { sequence.withLockedValue { $0 } }
        set { sequence.withLockedValue { $0 = newValue } }
    }

    static func userAgent(of headers: HTTPFields) -> String? {
        headers[.userAgent].map { String(decoding: $0.utf8.prefix(userAgentBytes), as: UTF8.self) }
    }
}

/// Writes uses of devices in the background, many in one transaction.
final class DeviceUses: Service {
    /// The maximum number of devices whose use waits to be written. Others are recorded with their next use.
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

    /// Removes and returns the waiting uses. They are sorted, so that two servers that write uses of the same devices lock the
    /// rows in the same order, without a deadlock.
    func takeWaiting() -> [DeviceUse] {
        waiting.withLockedValue { waiting in
            defer { waiting = [:] }
            return waiting.values.sorted { $0.node < $1.node }
        }
    }

    private func write() async {
        let uses = takeWaiting()
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
            OutageLog.shared.report("Last uses of \(uses.count) devices not recorded", error, logger: logger)
        }
    }
}
