internal import HesperClient
internal import HesperModel

/// A device of a simulated life: its local copy, its `SyncCore` and `TransferCore`, and the requests in progress.
///
/// It passes inputs from one core to the other, as `SyncRunner` does.
final class SimulatedDevice {
    let name: String
    let environment: DeviceEnvironment
    let database: LocalDatabase
    let files: MemoryAttachmentFiles
    /// The storage outside of the database file. Its contents show whether the database file is a copy.
    let memory: SimulatedMemory
    private(set) var core: SyncCore
    private(set) var transfers: TransferCore
    /// Inputs of `core` that are not taken yet, in their order.
    private(set) var syncInputs: [SyncInput] = []
    /// Inputs of `transfers` that are not taken yet, in their order.
    private(set) var transferInputs: [TransferCore.Input] = []
    /// Whether a round of sync is in progress, as stated by the last input `isSyncing` that was added to ``transferInputs``.
    private var isSyncing = true
    private var hasTransfers = true
    var transferStatus = TransferStatus()
    /// Whether the response to a request of the transfers is awaited.
    var isTransferring = false
    /// The serial number of the app's current run. It is incremented with every start of the app. Events of an earlier run are
    /// ignored.
    private(set) var run = 0
    /// The serial number of the current event stream. Events of earlier streams are ignored.
    var stream = 0
    /// The serial number that the server has given to the open stream.
    var serverStream: Int?
    /// The arrival time of the event that was sent most recently. Later events arrive after it, so that their order is kept.
    var lastArrival: Int64 = 0
    /// The time until which the device has no network.
    var offlineUntil: Int64 = 0
    /// The serial number of the latest `wake` effect of `core`. Earlier `wake` effects are ignored.
    var wake = 0
    /// The serial number of the latest `wake` effect of `transfers`. Earlier `wake` effects are ignored.
    var transferWake = 0
    /// The serial number of the last sync request.
    var pushNumber = 0
    /// The changes in the last sync request.
    var pushed = ""
    /// The changes in the last sync request whose response was processed.
    var answered = ""
    /// The virtual time at which `answered` was set, in milliseconds since 1970.
    var answeredAt: Int64 = 0
    /// The time of the device's clock at which the changes in `answered` were sent.
    var answeredSentAt = Timestamp(clamping: 0)
    /// The time of the device's clock at which `answered` was set.
    var answeredAtClock = Timestamp(clamping: 0)
    /// The time of the device's clock at which the last sync request was sent.
    var pushedAt = Timestamp(clamping: 0)
    /// The time of the device's clock at which the user last requested a sync. Such a sync also resends the changes that wait for
    /// space.
    var askedAt = Timestamp(clamping: 0)
    /// The text that somebody is editing. It is saved later.
    var draft: Draft?
    var isLost = false
    /// Whether the device runs an earlier version of the app, which does not declare the texts and files of recipes.
    var hasEarlierApp = false

    /// The maximum size of an upload part or of a download piece, in bytes.
    private static let pieceBytes = 200

    init(
        name: String, time: Int64, generator: inout SeededGenerator, files: MemoryAttachmentFiles = .init(),
        memory: SimulatedMemory = .init()
    ) throws {
        self.name = name
        self.files = files
        self.memory = memory
        let environment = DeviceEnvironment(time: time, generator: generator.split())
        self.environment = environment
        database = try LocalDatabase(path: nil, now: { environment.now }, makeID: { environment.newID() })
        core = SyncCore(seed: generator.next())
        transfers = TransferCore(seed: generator.next(), pieceBytes: SimulatedDevice.pieceBytes)
    }

    /// Starts the app. Only the database file, the attachment files and the storage outside of them remain from the previous run.
    func start(_ generator: inout SeededGenerator) throws {
        run += 1
        stream += 1
        wake += 1
        transferWake += 1
        draft = nil
        core = SyncCore(seed: generator.next())
        transfers = TransferCore(seed: generator.next(), pieceBytes: SimulatedDevice.pieceBytes)
        try database.write { transaction in
            if try CopyCheck.run(transaction, memory) { try TransferTable.replaceMissing(transaction, files) }
        }
        try beginSession()
    }

    /// Begins to sync with the session in the database file.
    func beginSession() throws {
        (pushNumber, pushed, answered) = (0, "", "")
        syncInputs = [.session]
        isSyncing = true
        isTransferring = false
        transferInputs = []
        if let token = try database.read({ try $0.sessionToken }) {
            transferInputs = [.isSyncing(true), .start(token: token)]
        }
    }

    func add(_ input: SyncInput) { syncInputs.append(input) }
    func add(_ input: TransferCore.Input) { transferInputs.append(input) }

    /// Adds the inputs that `SyncRunner` adds for both cores when the app has changed the local copy.
    func addChange() {
        syncInputs.append(.changed)
        transferInputs.append(.changed)
    }

    func addSyncNow() {
        askedAt = environment.now
        syncInputs.append(.syncNow)
        transferInputs.append(.retryNow)
    }

    // MARK: Steps

    /// Takes the first input of sync in one transaction.
    func stepSync() throws -> [SyncEffect] {
        guard let input = syncInputs.first else { return [] }
        // The step changes a copy of the core. If the transaction fails, the core keeps its state from before the step.
        var next = core
        let (effects, mustSignIn, hasTransfers) = try database.write { transaction in
            (
                try next.step(input, transaction), try transaction.sync.signInAgain != nil,
                try TransferTable.hasWork(transaction)
            )
        }
        self.hasTransfers = hasTransfers
        let wasOffline = core.progress.offlineSince != nil
        core = next
        syncInputs.removeFirst()
        if core.isBusy != isSyncing {
            isSyncing = core.isBusy
            transferInputs.append(.isSyncing(isSyncing))
        }
        if mustSignIn {
            transferInputs.append(.stop)
            isTransferring = false
        } else if case .response = input {
            transferInputs.append(wasOffline && core.progress.offlineSince == nil ? .retryNow : .changed)
        } else if case .event = input {
            transferInputs.append(.changed)
        }
        return effects
    }

    /// Takes the first input of the transfers in one transaction.
    func stepTransfers() throws -> [TransferCore.Effect] {
        guard let input = transferInputs.first else { return [] }
        defer { transferInputs.removeFirst() }
        if transfers.takeIdle(input, hasTransfers: hasTransfers) { return [] }
        var next = transfers
        let effects = try database.write { transaction in
            let effects = try next.step(input, transaction, files)
            hasTransfers = try TransferTable.hasWork(transaction)
            return effects
        }
        transfers = next
        return effects
    }

    /// Takes the next step without committing its transaction, as if the app crashed before the commit. Bytes that were written to
    /// files of attachments remain.
    func stepWithoutCommit() throws {
        var (core, transfers) = (core, transfers)
        do {
            try database.write { transaction in
                if let input = syncInputs.first {
                    _ = try core.step(input, transaction)
                } else if let input = transferInputs.first {
                    _ = try transfers.step(input, transaction, files)
                }
                throw Crash()
            }
        } catch is Crash {}
    }

    private struct Crash: Error {}

    // MARK: Reading

    func text(_ id: UniqueID, _ property: TextProperty) throws -> String? {
        try database.read { transaction in
            let object = try transaction.object(id, type: property.type)
            return object?.value(property.attribute.description)?.json.string
        }
    }

    /// The words of all texts of an object.
    func words(of id: UniqueID, _ type: String) throws -> [String] {
        try database.read { try $0.object(id, type: type)?.mergedTexts.flatMap(\.words) ?? [] }
    }

    /// The types whose objects have texts.
    private static let textTypes = [TypeName.note, Recipe.objectType]

    /// The notes and recipes that the app shows, each with the words of its texts.
    func shownWords() throws -> [(id: UniqueID, words: [String])] {
        try database.read { transaction in
            try SimulatedDevice.textTypes.flatMap { type in
                try transaction.ids(type, onlyShown: true).map { id in
                    (id, try transaction.object(id, type: type)?.mergedTexts.flatMap(\.words) ?? [])
                }
            }
        }
    }

    /// Calls `body` with each unsent text.
    private func forEachUnsentText(
        _ transaction: RecordsTransaction, _ body: (LocalObject, Attribute, LocalEdit) throws -> Void
    ) throws {
        for type in SimulatedDevice.textTypes where try transaction.types.contains(type) {
            try transaction.forEachPending(type) { object in
                for (name, edit) in object.edits.sorted(by: { $0.key < $1.key }) where AttributeName.isText(name) {
                    if let attribute = Attribute(name) { try body(object, attribute, edit) }
                }
                return true
            }
        }
    }

    /// The words of all unsent texts.
    func unsentWords() throws -> Set<String> {
        try database.read { transaction in
            var words: Set<String> = []
            try forEachUnsentText(transaction) { _, _, edit in
                if case .string(let text) = edit.value { words.formUnion(text.words) }
            }
            return words
        }
    }

    /// The words of the texts that the server has received from this device, and for which this device has received no response.
    /// Words that are also in the bases of these texts are left out.
    func unansweredWords(_ scope: MemoryScope) throws -> Set<String> {
        try database.read { transaction in
            var words: Set<String> = []
            try forEachUnsentText(transaction) { object, attribute, edit in
                guard let descent = edit.descent else { return }
                for stored in scope.parcels[object.id] ?? [] where stored.parcel.text == attribute {
                    guard let clock = stored.parcel.textClock, clock == edit.clock || descent.after.contains(clock)
                    else { continue }
                    let text = scope.words(of: LostText(object: object.id, attribute: attribute, clock: clock))
                    words.formUnion(text.subtracting(descent.base?.value.words ?? []))
                }
            }
            return words
        }
    }

    /// The objects of a type that the app shows.
    func shown(_ type: String) throws -> [UniqueID] {
        try database.read { try $0.ids(type, onlyShown: true) }
    }

    /// Whether the device has finished: it awaits no response, all bytes are transferred, it reports that everything is synced, and
    /// its digest is the server's.
    func isSettled(_ digest: Digest) throws -> Bool {
        guard !core.isBusy, !isTransferring, transferStatus == TransferStatus() else { return false }
        return try saysSynced() && database.read { try $0.sync.digest } == digest
    }

    /// Whether the device reports that everything is synced.
    func saysSynced() throws -> Bool {
        let progress = core.progress
        guard progress.hasFinished, progress.problem == nil, progress.offlineSince == nil,
            progress.objectsToFetch == 0
        else { return false }
        return try database.read { transaction in
            try transaction.pendingCounts().toSend == 0 && transaction.sync.isIdentical == true
                && transaction.sync.signInAgain == nil
        }
    }
}
