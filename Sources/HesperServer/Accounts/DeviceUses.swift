import HTTPTypes
import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// A use of a device by a request or an event stream. At most one use per device and minute is recorded (storage.md, Tables).
///
/// A use also contains the position in the feed up to which the device has read. Thinning keeps the texts that the device may still
/// use as a base, and uses this position to find them (merge.md, Thinning).
final class DeviceUse: Sendable {
    let node: NodeID
    let date: Timestamp
    let userAgent: String?
    /// The address of the client. Only the most recent address is stored, so that the user's locations cannot be reconstructed.
    let address: String?
    private let isUseDue: Bool
    private let sequence = NIOLockedValueBox<Int64?>(nil)

    /// The minimum time between two recorded uses of a device, in milliseconds.
    static let interval: Int64 = 60_000
    /// The maximum number of bytes of `User-Agent` that are stored.
    static let userAgentBytes = 256

    /// The use of a device by a request. Nil if nothing has to be recorded: both the last recorded use of the device and its last
    /// recorded read position are less than a minute old.
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

    /// The use of a device that reads an event stream.
    /// - Parameter sequence: the sequence up to which the device has read.
    init(of node: NodeID, hasRead sequence: Int64, at date: Timestamp) {
        self.node = node
        self.date = date
        userAgent = nil
        address = nil
        isUseDue = true
        readSequence = sequence
    }

    /// Whether the use has to be recorded: the previous use was recorded at least a minute ago, or a handler has set
    /// ``readSequence``.
    var isDue: Bool { isUseDue || readSequence != nil }

    /// The sequence up to which the device has read notes. Nil until a handler sets it from the sync token in the request.
    var readSequence: Int64? {
        get { sequence.withLockedValue { $0 } }
        set { sequence.withLockedValue { $0 = newValue } }
    }

    static func userAgent(of headers: HTTPFields) -> String? {
        headers[.userAgent].map { String(decoding: $0.utf8.prefix(userAgentBytes), as: UTF8.self) }
    }
}

/// Records uses of devices in the background, many uses in one transaction.
final class DeviceUses: Service {
    /// The maximum number of devices whose uses wait to be written. When this number is reached, uses of further devices are not
    /// recorded until the waiting uses have been written.
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

    /// Removes the waiting uses, and returns them sorted by device. The order prevents deadlocks: every server locks the rows of
    /// the devices in the same order.
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
            OutageLog.shared.report(
                "The most recent uses of \(uses.count) devices could not be recorded", error, logger: logger)
        }
    }
}
