import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// Has the store hear how far a listening device has read, as thinning keeps what it may start from (merge.md, Thinning).
///
/// It hears once a minute while there is something new, once an hour while there is not, and at the end.
final class StreamReading: Sendable {
    /// How much earlier than it was the reading is said to be, in milliseconds.
    private static let doubt: Int64 = 60_000

    private let device: NodeID
    private let uses: DeviceUses
    private let now: @Sendable () -> Timestamp
    private let last: NIOLockedValueBox<(sequence: Int64, date: Timestamp)>

    init(of device: NodeID, from sequence: Int64, uses: DeviceUses, now: @escaping @Sendable () -> Timestamp) {
        self.device = device
        self.uses = uses
        self.now = now
        last = NIOLockedValueBox((sequence, now()))
    }

    /// The stream takes what it is sent.
    func isAlive(at sequence: Int64) {
        let (last, now) = (last.withLockedValue { $0 }, now())
        let silence = now.milliseconds - last.date.milliseconds
        if silence >= Timestamp.hour || silence >= DeviceUse.interval && sequence > last.sequence {
            record(sequence, now)
        }
    }

    func end(at sequence: Int64) {
        if sequence > last.withLockedValue(\.sequence) { record(sequence, now()) }
    }

    private func record(_ sequence: Int64, _ now: Timestamp) {
        last.withLockedValue { $0 = (sequence, now) }
        // What went out in the last minute or two may not have arrived (see Channel.noticeSilence), so that what stood then
        // must stay as well.
        uses.record(DeviceUse(of: device, hasRead: sequence, at: now.adding(-StreamReading.doubt)))
    }
}
