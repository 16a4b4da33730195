import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// Records the position up to which a listening device has read. Thinning uses this position to keep the texts that the device may
/// still use as a base (merge.md, Thinning).
///
/// The position is recorded every minute while it changes, and every hour while it does not. A changed position is also recorded
/// at the end of the stream.
final class StreamProgress: Sendable {
    /// The time, in milliseconds, that is subtracted from the date of a recorded position. Data that was sent just before this date
    /// may not have arrived.
    private static let margin: Int64 = 60_000

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

    /// Records that all changes up to `sequence` were written to the connection. Does nothing if the previous record is too recent.
    func update(to sequence: Int64) {
        let (last, now) = (last.withLockedValue { $0 }, now())
        let age = now.milliseconds - last.date.milliseconds
        if age >= Timestamp.hour || age >= DeviceUse.interval && sequence > last.sequence {
            record(sequence, now)
        }
    }

    func end(at sequence: Int64) {
        if sequence > last.withLockedValue(\.sequence) { record(sequence, now()) }
    }

    private func record(_ sequence: Int64, _ now: Timestamp) {
        last.withLockedValue { $0 = (sequence, now) }
        // Data that was sent in the last minute or two may not have arrived (see Channel.setAcknowledgementTimeout). The date is
        // therefore moved back, so that thinning also keeps the texts that were current before this data was sent.
        uses.record(DeviceUse(of: device, hasRead: sequence, at: now.adding(-StreamProgress.margin)))
    }
}
