import HesperModel

/// One write to the database that results from the examination of an object.
enum SweepStep: Sendable, Equatable {
    case record(SweptEdit, DueSweep)
    case drop(SweptEdit, DueSweep)
    case purge(position: Int64, DueSweep)
    case reschedule(DueSweep, next: Timestamp?)
    case finish(DueSweep)

    /// The sweep that this step belongs to.
    var sweep: DueSweep {
        switch self {
        case .record(_, let sweep), .drop(_, let sweep), .purge(_, let sweep), .reschedule(let sweep, _),
            .finish(let sweep):
            sweep
        }
    }

    func apply(to transaction: any Transaction) throws {
        switch self {
        case .record(let edit, let sweep): try transaction.record(edit, of: sweep)
        case .drop(let values, let sweep): try transaction.drop(values, of: sweep)
        case .purge(let position, let sweep): try transaction.purge(editAt: position, of: sweep)
        case .reschedule(let sweep, let next): try transaction.reschedule(sweep, next: next)
        case .finish(let sweep): try transaction.finish(sweep)
        }
    }
}

/// The result of the examination of an object.
struct SweepFindings: Sendable, Equatable {
    var steps: [SweepStep] = []
    /// Whether the object must be examined further after the steps have been written.
    var hasMore = false
    /// The time at which more data of the object may expire; nil if no data will expire until the object changes.
    var next: Timestamp?
    /// Whether the object has no data left that a sweep could remove, so that its sweeps end (``SweepStep/finish(_:)``).
    var isFinal = false
    /// The action for the object's blob.
    var blobAction = BlobAction.none

    enum BlobAction: Sendable, Equatable {
        case none
        /// Removes the blob, because its attachment object does not exist.
        case remove
        /// Deletes the attachment and its blob, because no object has held the attachment for the grace period.
        case deleteAttachment
    }

    /// Schedules the next examination for `date`, unless an earlier examination is already scheduled.
    mutating func scheduleNext(_ date: Timestamp) { next = min(next ?? date, date) }
}
