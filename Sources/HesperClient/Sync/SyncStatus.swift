public import Foundation
internal import GRDB
internal import HesperModel

/// The state of sync: the amounts that are left to send and to fetch, and the problem that prevents sync, if there is one.
///
///     for await status in store.statuses { show(status) }
public struct SyncStatus: Sendable, Equatable {
    /// The phase of sync.
    public enum Phase: Sendable, Equatable {
        /// The local copy belongs to no account, and is used on this device only.
        case signedOut
        /// Sync has not begun, sync was suspended, or another process syncs.
        case stopped
        case syncing
        /// Nothing is left to send or to fetch.
        case synced
        /// The server cannot be reached. Sync retries automatically.
        case offline
        /// Changes are left to send or to fetch, and ``SyncStatus/problem`` states why.
        case waiting
    }

    /// A number of objects and their total size.
    public struct Amount: Sendable, Equatable {
        /// The number of objects.
        public var objects: Int
        /// The number of bytes of these objects that are left to transfer, as far as it is known. In ``SyncStatus/toSend``, only
        /// the bytes of attachments are counted.
        public var bytes: Int64

        /// Creates an amount.
        public init(objects: Int = 0, bytes: Int64 = 0) {
            self.objects = objects
            self.bytes = bytes
        }
    }

    /// The current phase of sync.
    public var phase = Phase.stopped
    /// The changes that are left to send, including those that wait because the account is full.
    public var toSend = Amount()
    /// The objects that are left to fetch, except attachments that are downloaded only when the app requests them.
    public var toFetch = Amount()
    /// The time at which the last round of sync ended.
    public var lastSync: Date?
    /// Whether the local copy is known to be identical to the server's data: nothing is unsent, and the digests are equal.
    public var isIdentical = false
    /// Whether changes of other devices arrive immediately.
    public var isLive = false
    /// The most important problem; nil if there is none.
    public var problem: SyncProblem?

    /// Creates the status of a store that does not sync.
    public init() {}
}

/// A problem that prevents or limits sync.
public enum SyncProblem: Error, Sendable, Equatable {
    /// The reason why the user must sign in again.
    public enum SignInReason: Sendable, Equatable {
        /// The server no longer accepts the session, for example because the device was signed out on another device.
        case expired
        /// The database file was copied from another device.
        case copied
    }

    /// The server cannot be reached.
    case offline
    /// The user must sign in again. Unsent changes are kept.
    case signInAgain(SignInReason)
    /// The operator of the server has disabled the account.
    case accountDisabled
    /// The account, or the server's disk, is full. Changes that need no more space are still synced.
    case storageFull
    /// The disk of this device is full.
    case diskFull
    /// The device's clock is wrong by this duration, which is positive if the clock is ahead.
    case clockWrong(by: Duration)
    /// The server rejected this number of changes. They are kept in ``LocalStore/shelf``.
    case refused(Int)
    /// The server lacks features that this library needs. The operator must update the server. If only fields of some objects need
    /// these features (`object-texts`, `object-files`), these fields wait, and everything else is synced.
    case serverTooOld(missing: [String])
    /// The server failed or refused a request. Sync retries automatically. The associated value is the reason.
    case serverFailed(String)
    /// The local copy cannot be read or written. The associated value is the reason.
    case localCopyFailed(String)
}

/// The part of the status that is read from the local copy.
struct SyncRecordSnapshot: Equatable {
    var isSignedIn: Bool
    var sync: SyncRecord
    var toSend: Int
    var held: Int
    /// The number of deletions that are not sent yet, because they can still be undone.
    var undoable: Int
    var refused: Int
    /// The server's time minus this device's time, in milliseconds.
    var clockOffset: Int64
    /// Whether there may be bytes to transfer.
    var hasTransfers: Bool

    init(_ transaction: RecordsTransaction) throws {
        isSignedIn = try transaction.sessionToken != nil
        sync = try transaction.sync
        (toSend, held) = try transaction.pendingCounts()
        undoable = try transaction.deletions().count { !$0.isDue(at: transaction.now) }
        refused = try transaction.shelf().count
        clockOffset = try transaction.clock.offset
        hasTransfers = try TransferTable.hasWork(transaction)
    }
}

extension SyncStatus {
    /// The part of the status that is not read from the local copy.
    struct Circumstances: Equatable {
        var isRunning = false
        var progress = SyncProgress()
        var transfers = TransferStatus()
        var missingFeatures: [String] = []
        /// The reason why the last step could not be saved.
        var localFailure: SyncProblem?
    }

    init(_ records: SyncRecordSnapshot, _ around: Circumstances) {
        let progress = around.progress
        toSend = Amount(objects: records.toSend, bytes: around.transfers.toSend.bytes)
        toFetch = Amount(
            objects: progress.objectsToFetch + around.transfers.toFetch.objects,
            bytes: progress.bytesToFetch + around.transfers.toFetch.bytes)
        lastSync = records.sync.lastSync.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1_000) }
        isLive = progress.isLive
        let isDone =
            progress.hasFinished && toSend.objects == 0 && toFetch.objects == 0 && !records.sync.hasStartedOver
        isIdentical = isDone && records.sync.isIdentical == true
        problem = SyncStatus.problem(records, around)
        phase =
            !records.isSignedIn
            ? .signedOut
            : !around.isRunning
                ? .stopped
                : isDone && around.localFailure == nil
                    ? .synced
                    : problem == .offline
                        ? .offline
                        : problem != nil && problem?.isPassing != true
                            ? .waiting
                            : .syncing
    }

    /// The status of a local copy that cannot be read.
    init(localFailure problem: SyncProblem) {
        phase = .waiting
        self.problem = problem
    }

    private static func problem(_ records: SyncRecordSnapshot, _ around: Circumstances) -> SyncProblem? {
        if let failure = around.localFailure { return failure }
        switch records.sync.signInAgain {
        case .expired: return .signInAgain(.expired)
        case .copied: return .signInAgain(.copied)
        case nil: break
        }
        if !around.missingFeatures.isEmpty { return .serverTooOld(missing: around.missingFeatures) }
        let refusal = around.progress.problem
        if refusal?.kind == .accountDisabled || around.transfers.problem == .accountDisabled { return .accountDisabled }
        if around.progress.offlineSince != nil { return .offline }
        if UInt64(abs(records.clockOffset)) > Limits.clockAhead {
            return .clockWrong(by: .milliseconds(-records.clockOffset))
        }
        if !around.progress.missingFeatures.isEmpty {
            return .serverTooOld(missing: around.progress.missingFeatures)
        }
        if records.held > 0 || refusal?.kind == .storageFull { return .storageFull }
        if let refusal { return .serverFailed(refusal.detail) }
        switch around.transfers.problem {
        case .quotaExceeded, .serverDiskFull: return .storageFull
        case .diskFull: return .diskFull
        case .files(let error): return .localCopyFailed("The files of attachments cannot be used (\(error)).")
        case .server(let problem): return .serverFailed(problem.detail)
        case .offline, .accountDisabled, nil: break
        }
        return records.refused > 0 ? .refused(records.refused) : nil
    }
}

extension SyncProblem {
    /// Whether the phase remains ``SyncStatus/Phase/syncing`` in spite of the problem.
    fileprivate var isPassing: Bool {
        switch self {
        case .refused, .clockWrong: true
        case .offline, .signInAgain, .accountDisabled, .storageFull, .diskFull, .serverTooOld, .serverFailed,
            .localCopyFailed:
            false
        }
    }

    /// The problem to report if the result of a step could not be saved in the local copy.
    init(localFailure error: any Error) {
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_FULL {
            self = .diskFull
        } else {
            self = .localCopyFailed("\(error)")
        }
    }
}
