package import HesperModel

/// The uploads and downloads that are left, for the status.
package struct TransferStatus: Sendable, Equatable {
    package var toSend = TransferTable.Amount()
    package var toFetch = TransferTable.Amount()
    package var problem: Problem?

    package enum Problem: Sendable, Equatable {
        /// The account has no space for an upload.
        case quotaExceeded
        /// The disk of the server is full.
        case serverDiskFull
        /// The disk of this device is full.
        case diskFull
        case accountDisabled
        /// Files of this device cannot be read or written.
        case files(AttachmentFilesError)
        /// The server refused a transfer. It will be retried.
        case server(ServerProblem)
        case offline
    }

    package init() {}
}

/// Decides which bytes of attachments are uploaded and downloaded, and when (clients.md, rules 9 and 11).
///
/// Like `SyncCore`, this value does not use tasks, clocks or the network, and a seed determines its random delays. `step` takes an
/// input, and returns the effects to carry out. One request is in progress at a time. Downloads that the app requested come first.
/// Then uploads and other downloads take turns, piece by piece. They wait while a round of sync is in progress, so that texts are
/// synced before bytes.
///
/// Each step reads or writes at most one piece of a file, so that the transaction is short and memory use is bounded.
package struct TransferCore: Sendable {
    package enum Input: Sendable {
        /// Transfers start or continue, with this token of the session.
        case start(token: String)
        /// Transfers stop: the response to the request in progress is ignored.
        case stop
        /// The response to the request with this serial number, or the reason why there is none.
        case response(Int, Result<ServerResponse, NoResponse>)
        /// The time of the most recent effect ``Effect/wake(at:)`` has come.
        case wake
        /// The local copy has changed.
        case changed
        /// A round of sync started or ended.
        case isSyncing(Bool)
        /// Waiting transfers are retried immediately, because the user requested it or the network is available again.
        case retryNow
    }

    package enum Effect: Sendable, Equatable {
        case send(Int, ServerRequest)
        /// Take a step with the input `wake` at this time. Replaces an earlier effect `wake`.
        case wake(at: Timestamp)
        case status(TransferStatus)
        /// The server now has the bytes of this attachment. Sync can push the attachment.
        case uploaded(UniqueID)
        /// The upload of this attachment was abandoned for this reason. The attachment is now a rejected change.
        case uploadRefused(UniqueID, ServerProblem)
        /// The bytes of this attachment are complete on this device.
        case downloaded(UniqueID)
        /// The server refused the token. Transfers pause until a round of sync has determined whether the session has ended. If the
        /// session has ended, transfers stop. They do not stop earlier, because a server that is being restored may accept the
        /// token later.
        case signInAgain
    }

    private struct Job {
        enum Kind {
            case upload(TransferUploads.Step)
            case download(at: Int64)
        }
        let number: Int
        let id: UniqueID
        let kind: Kind
    }

    /// The state of one direction, uploads or downloads. It is paused after failures that concern all its transfers.
    private struct Direction {
        var failures = 0
        var pausedUntil: Timestamp?
        var problem: TransferStatus.Problem?
    }

    /// The maximum size of an upload part or of a download piece, in bytes.
    package static let pieceBytes = 4 << 20
    /// The delays after a first failure and the maximum delays, in milliseconds. A delay doubles with every failure in succession.
    private enum Delay {
        static let network: Int64 = 1_000
        static let maximumNetwork: Int64 = 60_000
        static let refusal: Int64 = 10_000
        static let quota: Int64 = 60_000
        static let maximum: Int64 = 3_600_000
    }
    /// If a part arrives damaged after this number of failures without progress, the upload is abandoned. Failures of all kinds are
    /// counted, for example lost connections.
    private static let maximumDamagedParts = 5

    private let policy: TransferTable.Policy
    private var backOff: BackOff
    private var token: String?
    private var isSyncing = false
    private var job: Job?
    /// Whether a retry was requested while ``job`` was in progress. If the request gets no response, it is sent again at once,
    /// because the network may be available again.
    private var isRetryRequested = false
    private var lastNumber = 0
    private var uploads: TransferUploads
    private var downloads: TransferDownloads
    private var upload = Direction()
    private var download = Direction()
    /// Whether the transfer that was begun last is an upload.
    private var hasUploaded = false
    private var reported: TransferStatus?
    private var wakeAt: Timestamp?
    /// The time of the last step.
    private var lastStep = Timestamp(clamping: 0)
    private var effects: [Effect] = []

    package init(seed: UInt64, policy: TransferTable.Policy = .init(), pieceBytes: Int = TransferCore.pieceBytes) {
        self.policy = policy
        backOff = BackOff(seed: seed)
        uploads = TransferUploads(partBytes: pieceBytes)
        downloads = TransferDownloads(pieceBytes: pieceBytes)
    }

    /// Processes an input, and returns the effects in the order in which they must be carried out.
    ///
    /// If it throws, the transaction is rolled back, and the value must be replaced with a copy from before the step.
    package mutating func step(
        _ input: Input, _ transaction: RecordsTransaction, _ files: any AttachmentFiles
    ) throws -> [Effect] {
        effects = []
        let now = transaction.now
        if token != nil, now < lastStep { try clockWasSetBack(transaction) }
        lastStep = now
        switch input {
        case .start(let token):
            try TransferTable.create(transaction)
            // The clock may have been set back since the last run, or the database file may have been copied from a device whose
            // clock differs.
            try clockWasSetBack(transaction)
            self.token = token
            job = nil
            isRetryRequested = false
            uploads.reset()
            upload = Direction()
            download = Direction()
            wakeAt = nil
            reported = nil
        case .stop:
            token = nil
            job = nil
        case .response(let number, let response):
            if let job, job.number == number {
                self.job = nil
                try receive(response, to: job, transaction, files)
                isRetryRequested = false
            }
        case .wake: wakeAt = nil
        case .changed: break
        case .isSyncing(let isSyncing): self.isSyncing = isSyncing
        case .retryNow:
            upload = Direction()
            download = Direction()
            isRetryRequested = job != nil
            if token != nil { try TransferTable(transaction).retryAll() }
        }
        guard token != nil else { return effects }
        try deleteUnneededFiles(transaction, files)
        // If there is nothing to transfer, which is nearly always the case, no other query is needed.
        let hasTransfers = try !TransferTable(transaction).isEmpty
        if job == nil, hasTransfers { try begin(transaction, files) }
        try report(transaction, hasTransfers: hasTransfers)
        return effects
    }

    /// Whether all downloads wait, for example because the disk is full.
    func isDownloadPaused(at now: Timestamp) -> Bool { download.pausedUntil.map { $0 > now } ?? false }

    /// Takes an input without a transaction if there is nothing to transfer, which is nearly always the case.
    /// - Parameter hasTransfers: the result of ``TransferTable/hasWork(_:)`` in the last transaction.
    /// - Returns: whether the input was taken. Otherwise, ``step(_:_:_:)`` must process it.
    package mutating func takeIdle(_ input: Input, hasTransfers: Bool) -> Bool {
        guard !hasTransfers, job == nil, reported == TransferStatus() else { return false }
        switch input {
        case .changed: return true
        case .isSyncing(let isSyncing):
            self.isSyncing = isSyncing
            return true
        case .start, .stop, .response, .wake, .retryNow: return false
        }
    }

    /// Makes transfers due immediately if they would wait for longer than the maximum delay. They were postponed while the
    /// clock was ahead.
    private mutating func clockWasSetBack(_ transaction: RecordsTransaction) throws {
        let latest = transaction.now.adding(Delay.maximum)
        if let until = upload.pausedUntil, until > latest { upload.pausedUntil = nil }
        if let until = download.pausedUntil, until > latest { download.pausedUntil = nil }
        wakeAt = nil
        try TransferTable(transaction).retry(after: latest)
    }

    private func deleteUnneededFiles(_ transaction: RecordsTransaction, _ files: any AttachmentFiles) throws {
        // Errors are ignored, because a file that cannot be deleted takes space, but does no other harm.
        for id in try TransferTable(transaction).takeUnneededFiles() { try? files.delete(id) }
    }

    // MARK: The next request

    private mutating func begin(_ transaction: RecordsTransaction, _ files: any AttachmentFiles) throws {
        let now = transaction.now
        guard let row = try nextRow(transaction) else {
            let waits = try [(upload, true), (download, false)].compactMap { direction, isUpload -> Timestamp? in
                guard !isSyncing, let retry = try TransferTable(transaction).nextRetry(isUpload: isUpload, policy)
                else { return nil }
                return max(retry, direction.pausedUntil ?? retry)
            }
            if let moment = waits.min() { wake(at: max(moment, now)) }
            return
        }
        hasUploaded = row.isUpload
        if row.isUpload { try beginUpload(row, transaction, files) } else { try beginDownload(row, transaction, files) }
    }

    private func nextRow(_ transaction: RecordsTransaction) throws -> TransferRow? {
        let table = TransferTable(transaction)
        let now = transaction.now
        func isPaused(_ direction: Direction) -> Bool { direction.pausedUntil.map { $0 > now } ?? false }
        if !isDownloadPaused(at: now), let wanted = try table.next(isUpload: false, isWanted: true, at: now, policy) {
            return wanted
        }
        guard !isSyncing else { return nil }
        for isUpload in [!hasUploaded, hasUploaded] where !isPaused(isUpload ? upload : download) {
            if let row = try table.next(isUpload: isUpload, at: now, policy) { return row }
        }
        return nil
    }

    private mutating func beginUpload(
        _ row: TransferRow, _ transaction: RecordsTransaction, _ files: any AttachmentFiles
    ) throws {
        guard try transaction.object(row.id, type: TypeName.attachment)?.made?.needsBytes == true else {
            try TransferTable(transaction).remove(row.id)
            return wake(at: transaction.now)
        }
        do {
            let file = try transaction.file(of: row.id) ?? row.id
            let (step, request) = try uploads.next(row, file, files)
            send(request, Job(number: lastNumber + 1, id: row.id, kind: .upload(step)))
        } catch let error as AttachmentFilesError {
            switch error {
            case .missing, .damaged, .wrongOffset:
                let detail = "The bytes of the attachment are no longer on this device."
                let problem = ServerProblem(slug: "bytes-missing", detail: detail)
                try refuse(row, problem, transaction, isMissing: true)
            case .diskFull, .system: pause(\.upload, .files(error), transaction.now, from: Delay.refusal)
            }
            wake(at: transaction.now)
        }
    }

    private mutating func beginDownload(
        _ row: TransferRow, _ transaction: RecordsTransaction, _ files: any AttachmentFiles
    ) throws {
        do {
            let file = try transaction.file(of: row.id)
            if let file, try files.file(file)?.isFinished == true { return try finish(row, file, transaction) }
            switch try downloads.next(row, files) {
            case .send(let request, let offset):
                return send(request, Job(number: lastNumber + 1, id: row.id, kind: .download(at: offset)))
            case .hashing: break
            case .finished: return try finish(row, row.id, transaction)
            case .damaged:
                var row = row
                row.done = 0
                try postpone(&row, transaction, from: Delay.refusal)
            }
        } catch let error as AttachmentFilesError {
            pauseDownloads(error, transaction.now)
        }
        // The next piece follows in a separate transaction, so that each transaction is short.
        wake(at: transaction.now)
    }

    /// Ends a download whose bytes are complete in a file.
    private mutating func finish(_ row: TransferRow, _ file: UniqueID, _ transaction: RecordsTransaction) throws {
        try transaction.setBytes(of: row.id, file: file, byteCount: row.data.byteCount)
        try TransferTable(transaction).remove(row.id)
        download.problem = nil
        effects.append(.downloaded(row.id))
        // The next transfer follows in a separate transaction, so that each transaction is short.
        wake(at: transaction.now)
    }

    private mutating func send(_ request: ServerRequest, _ job: Job) {
        var request = request
        request.token = token
        lastNumber = job.number
        self.job = job
        effects.append(.send(job.number, request))
    }

    // MARK: Responses

    private mutating func receive(
        _ response: Result<ServerResponse, NoResponse>, to job: Job, _ transaction: RecordsTransaction,
        _ files: any AttachmentFiles
    ) throws {
        let table = TransferTable(transaction)
        // The attachment may have been deleted after the request was sent. Its row in the table of transfers was then deleted too.
        guard var row = try table.row(job.id) else { return }
        let done = row.done
        let direction: WritableKeyPath<TransferCore, Direction>
        let outcome: TransferOutcome
        switch job.kind {
        case .upload(let step):
            guard row.isUpload else { return }
            direction = \.upload
            outcome = uploads.receive(response, to: step, &row)
        case .download(let offset):
            guard !row.isUpload else { return }
            direction = \.download
            do {
                outcome = try downloads.receive(response, at: offset, &row, files)
            } catch let error as AttachmentFilesError {
                return pauseDownloads(error, transaction.now)
            }
        }
        switch outcome {
        case .progress:
            self[keyPath: direction] = Direction()
            // The count of failures is reset only by bytes that were never transferred before. Otherwise, an upload that the server
            // loses repeatedly would be retried too often.
            if row.done > done { row.failures = 0 }
            row.problem = nil
            try table.save(row)
        case .finished:
            self[keyPath: direction] = Direction()
            try table.remove(row.id)
            try markUploaded(row, transaction, files)
        case .restart where row.failures == 0:
            row.failures = 1
            try table.save(row)
        case .restart:
            try postpone(&row, transaction, from: Delay.network, upTo: Delay.maximumNetwork)
        case .deleted where row.isUpload:
            try refuse(row, ServerProblem(slug: "deleted", detail: "The attachment was deleted."), transaction)
        case .deleted:
            try table.remove(row.id)
            try files.delete(row.id)
        case .noResponse where isRetryRequested: break
        case .noResponse:
            pause(\.upload, .offline, transaction.now)
            pause(\.download, .offline, transaction.now)
            try postpone(&row, transaction, from: Delay.network, upTo: Delay.maximumNetwork)
        case .refused(let problem): try fail(problem, &row, direction, transaction)
        case .unexpected(let status):
            self[keyPath: direction].problem = .server(ServerProblem(ServerResponse(status: status)))
            try postpone(&row, transaction, from: Delay.refusal)
        }
    }

    /// Marks an attachment as uploaded. Sync can then push it.
    private mutating func markUploaded(
        _ row: TransferRow, _ transaction: RecordsTransaction, _ files: any AttachmentFiles
    ) throws {
        guard row.isUpload else { return }
        if var object = try transaction.object(row.id, type: TypeName.attachment), object.made?.needsBytes == true {
            object.made?.needsBytes = false
            try transaction.save(object)
            transaction.noteNewEdits()
        }
        // If the file is missing on this device, its bytes are downloaded. Another device with a copy of the database file may have
        // uploaded them.
        if try files.file(transaction.file(of: row.id) ?? row.id)?.isFinished != true {
            try TransferTable(transaction).download(row.id)
        }
        effects.append(.uploaded(row.id))
    }

    // MARK: Failures

    private mutating func fail(
        _ problem: ServerProblem, _ row: inout TransferRow, _ direction: WritableKeyPath<TransferCore, Direction>,
        _ transaction: RecordsTransaction
    ) throws {
        let now = transaction.now
        row.problem = problem.slug
        switch problem.kind {
        case .unauthenticated:
            pause(\.upload, .server(problem), now, from: Delay.refusal)
            pause(\.download, .server(problem), now, from: Delay.refusal)
            effects.append(.signInAgain)
        case .accountDisabled:
            pause(\.upload, .accountDisabled, now, from: Delay.quota)
            pause(\.download, .accountDisabled, now, from: Delay.quota)
        case .tooManyRequests: pause(direction, .server(problem), now, retryAfter: problem.retryAfter)
        case .storageFull:
            pause(direction, .serverDiskFull, now, from: Delay.quota, retryAfter: problem.retryAfter)
        case .quotaExceeded: try postpone(&row, transaction, from: Delay.quota)
        case .requestTimeout, .unavailable:
            pause(\.upload, .server(problem), now, retryAfter: problem.retryAfter)
            pause(\.download, .server(problem), now, retryAfter: problem.retryAfter)
            try postpone(&row, transaction, from: Delay.network, upTo: Delay.maximumNetwork)
        case .immutable where row.isUpload, .tooLarge where row.isUpload: try refuse(row, problem, transaction)
        case .invalidField where row.isUpload:
            // A part that was damaged on its way to the server is sent again.
            if problem.pointer == "Content-Digest", row.failures < TransferCore.maximumDamagedParts {
                try postpone(&row, transaction, from: Delay.network)
            } else {
                try refuse(row, problem, transaction)
            }
        default:
            self[keyPath: direction].problem = .server(problem)
            try postpone(&row, transaction, from: Delay.refusal, retryAfter: problem.retryAfter)
        }
    }

    /// Postpones one transfer. Other transfers continue.
    private mutating func postpone(
        _ row: inout TransferRow, _ transaction: RecordsTransaction, from first: Int64,
        upTo maximum: Int64 = Delay.maximum, retryAfter: Int? = nil
    ) throws {
        row.failures += 1
        let delay = backOff.delay(afterFailures: row.failures, from: first, upTo: maximum)
        row.retryAt = transaction.now.adding(max(delay, Int64(retryAfter ?? 0) * 1_000))
        try TransferTable(transaction).save(row)
    }

    /// Pauses all transfers in one direction.
    private mutating func pause(
        _ direction: WritableKeyPath<TransferCore, Direction>, _ problem: TransferStatus.Problem, _ now: Timestamp,
        from first: Int64 = Delay.network, retryAfter: Int? = nil
    ) {
        let maximum = first == Delay.network ? Delay.maximumNetwork : Delay.maximum
        self[keyPath: direction].failures += 1
        let failures = self[keyPath: direction].failures
        let delay = backOff.delay(afterFailures: failures, from: first, upTo: maximum)
        self[keyPath: direction].pausedUntil = now.adding(max(delay, Int64(retryAfter ?? 0) * 1_000))
        self[keyPath: direction].problem = problem
    }

    private mutating func pauseDownloads(_ error: AttachmentFilesError, _ now: Timestamp) {
        pause(\.download, error == .diskFull ? .diskFull : .files(error), now, from: Delay.refusal)
    }

    /// Abandons an upload: the attachment becomes a rejected change (clients.md, rule 9).
    /// - Parameter isMissing: whether the bytes are not on this device.
    private mutating func refuse(
        _ row: TransferRow, _ problem: ServerProblem, _ transaction: RecordsTransaction, isMissing: Bool = false
    ) throws {
        try TransferTable(transaction).remove(row.id)
        if var object = try transaction.object(row.id, type: TypeName.attachment) {
            object.made = nil
            // The server has not acknowledged the attachment, and its bytes are not on this device, so the attachment is removed.
            // If another device sends the attachment, it arrives here as a new one.
            if isMissing, object.fixed.isEmpty {
                try transaction.remove(object)
            } else {
                try transaction.save(object)
                if isMissing { try TransferTable(transaction).download(row.id) }
            }
        }
        try transaction.add(
            ShelvedChange(
                id: row.id, type: TypeName.attachment, slug: problem.slug, detail: problem.detail,
                moment: transaction.now))
        effects.append(.uploadRefused(row.id, problem))
    }

    // MARK: Reports

    private mutating func wake(at moment: Timestamp) {
        guard wakeAt != moment else { return }
        wakeAt = moment
        effects.append(.wake(at: moment))
    }

    private mutating func report(_ transaction: RecordsTransaction, hasTransfers: Bool) throws {
        let table = TransferTable(transaction)
        var status = TransferStatus()
        if hasTransfers {
            status.toSend = try table.amount(isUpload: true, policy)
            status.toFetch = try table.amount(isUpload: false, policy)
        }
        if status.toSend.objects > 0 {
            status.problem =
                try upload.problem ?? (table.isWaiting(for: "quota-exceeded") ? .quotaExceeded : nil)
        }
        if status.problem == nil, status.toFetch.objects > 0 { status.problem = download.problem }
        guard status != reported else { return }
        reported = status
        effects.append(.status(status))
    }
}
