import HesperModel

/// One small thing to write of what a look at an object came to.
enum SweepStep: Sendable, Equatable {
    case keep(SweptEdit, DueSweep)
    case drop(SweptEdit, DueSweep)
    case purge(position: Int64, DueSweep)
    case end(DueSweep, next: Timestamp?)
    case forget(DueSweep)

    /// The look that it came of.
    var sweep: DueSweep {
        switch self {
        case .keep(_, let sweep), .drop(_, let sweep), .purge(_, let sweep), .end(let sweep, _), .forget(let sweep):
            sweep
        }
    }

    func apply(to transaction: any Transaction) throws {
        switch self {
        case .keep(let edit, let sweep): try transaction.keep(edit, of: sweep)
        case .drop(let values, let sweep): try transaction.drop(values, of: sweep)
        case .purge(let position, let sweep): try transaction.purge(editAt: position, of: sweep)
        case .end(let sweep, let next): try transaction.end(sweep, next: next)
        case .forget(let sweep): try transaction.forget(sweep)
        }
    }
}

/// What a look at an object came to.
struct SweepLook: Sendable, Equatable {
    var steps: [SweepStep] = []
    /// Whether there is more to look at once the steps are done.
    var hasMore = false
    /// When there may be something to remove again.
    var next: Timestamp?
    /// Whether nothing of the object is left to look at, ever, unless something new comes.
    var isOver = false
    /// What is to become of the bytes that are here for it.
    var bytes = Bytes.stay

    enum Bytes: Sendable, Equatable {
        case stay
        /// They have waited long enough for their attachment.
        case go
        /// No note has held the attachment for the grace period.
        case goWithAttachment
    }

    mutating func look(at date: Timestamp) { next = min(next ?? date, date) }
}
