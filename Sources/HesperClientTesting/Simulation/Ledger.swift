internal import HesperClient
internal import HesperModel

/// Records the actions of the people of a simulated life, and the data that the server has had, for the checks. Every
/// word is typed once.
///
/// After a push, only the objects that the push touched are read, so that reading takes no longer as the life goes on.
struct Ledger {
    // MARK: What people did

    /// The device that typed each word.
    private(set) var authors: [String: String] = [:]
    /// Words that were removed on a device that had received them.
    private(set) var removed: Set<String> = []
    /// The value that the counter of each recipe must have, and the devices that counted.
    private(set) var counts: [UniqueID: Int] = [:]
    private(set) var countedBy: [UniqueID: Set<String>] = [:]
    /// The labels that were added to each recipe, and those that were removed.
    private(set) var labels: [UniqueID: Set<String>] = [:]
    private(set) var removedLabels: [UniqueID: Set<String>] = [:]
    private(set) var labeledBy: [UniqueID: Set<String>] = [:]
    /// The bytes of attachments, and the notes to which they were added, unless they were removed or moved.
    private(set) var files: [UniqueID: [UInt8]] = [:]
    private(set) var attached: [UniqueID: (note: UniqueID, device: String)] = [:]
    /// The devices that were lost and revoked, and the nodes that were revoked.
    var lostDevices: Set<String> = []
    var revokedNodes: Set<NodeID> = []
    /// The nodes that two devices share, because the file of one device is an undetected copy of the file of the other
    /// device. ``twins`` has the names of these devices.
    var sharedNodes: Set<NodeID> = []
    var twins: Set<String> = []
    private var words = 0

    // MARK: What the server has had

    /// Words that the server has had at any time, and words that it has never had.
    private(set) var known: Set<String> = []
    private(set) var unknown: Set<String> = []
    /// Words that arrived in a text of a note that was not deleted. Other words that the server has had were pushed to notes that were
    /// already deleted: no other device receives them until the device that pushed them moves them to another note.
    private(set) var shared: Set<String> = []
    /// Objects that the server acknowledged as deleted at any time.
    private(set) var dead: Set<UniqueID> = []
    /// The greatest clock that each register has had on the server.
    private(set) var clocks: [UniqueID: [Attribute: Clock]] = [:]
    /// The words of the text of each live note.
    private var texts: [UniqueID: Set<String>] = [:]
    /// The numbers of elements of the scope's lists that were read before.
    private var readTouched = 0
    private var readLost = 0
    private var readParcels: [UniqueID: Int] = [:]

    // MARK: Exceptions

    /// Words that may be in no text, because a merge replaced them or a revocation undid their edits. They are in the history of
    /// a note.
    private(set) var superseded: Set<String> = []
    /// Words that may be in no text, because a device deleted their note without having received them, and the server could not know
    /// this (docs/decisions, record 71).
    private(set) var unseen: Set<String> = []
    /// Words that may occur twice in a text (``mayDouble(_:)``).
    private(set) var doubled: Set<String> = []

    mutating func newWord(by device: String) -> String {
        words += 1
        let word = "w\(words)"
        authors[word] = device
        unknown.insert(word)
        return word
    }

    mutating func remove(_ words: some Sequence<String>) { removed.formUnion(words) }

    mutating func count(_ number: Int, of recipe: UniqueID, by device: String) {
        counts[recipe, default: 0] += number
        countedBy[recipe, default: []].insert(device)
    }

    mutating func insert(_ label: String, into recipe: UniqueID, _ set: inout MergedSet<String>, by device: String) {
        if set.insert(label) { labels[recipe, default: []].insert(label) }
        labeledBy[recipe, default: []].insert(device)
    }

    mutating func remove(_ label: String, from recipe: UniqueID, _ set: inout MergedSet<String>, by device: String) {
        if set.remove(label) { removedLabels[recipe, default: []].insert(label) }
        labeledBy[recipe, default: []].insert(device)
    }

    mutating func attach(_ bytes: [UInt8], as id: UniqueID, to note: UniqueID, by device: String) {
        files[id] = bytes
        attached[id] = (note, device)
    }

    mutating func detach(_ id: UniqueID) { attached[id] = nil }

    /// Records words that may occur twice in a text, because two copies of a file contain them, or because two texts contain them
    /// and the server cannot know that one text descends from the other text.
    mutating func mayDouble(_ words: some Sequence<String>) { doubled.formUnion(words) }

    /// Records the changes that a request made on the server.
    /// - Parameter isSeen: whether a device that deleted a note had seen its words, as far as the server can know.
    mutating func read(_ scope: MemoryScope, isSeen: (UniqueID) -> Bool = { _ in true }) {
        let touched = Set(scope.touched[readTouched...])
        readTouched = scope.touched.count
        for id in touched {
            readParcels(of: id, scope)
            switch scope.states[id] {
            case .deleted?:
                dead.insert(id)
                let words = texts.removeValue(forKey: id) ?? []
                if !isSeen(id) { unseen.formUnion(words) }
            case .entity(let entity, _)?:
                entity.forEachRegister { attribute, clock in
                    clocks[id, default: [:]][attribute] = max(clocks[id]?[attribute] ?? clock, clock)
                }
                if case .note(let note) = entity { texts[id] = Set(note.text.words) }
            case nil: break
            }
        }
        for lost in scope.lostTexts[readLost...] {
            superseded.formUnion(scope.words(of: lost).subtracting(texts[lost.object] ?? []))
        }
        readLost = scope.lostTexts.count
    }

    private mutating func readParcels(of id: UniqueID, _ scope: MemoryScope) {
        let parcels = scope.parcels[id] ?? []
        var isDeleted = false
        if case .deleted? = scope.states[id] { isDeleted = true }
        for stored in parcels.dropFirst(readParcels[id] ?? 0) {
            for edit in stored.parcel.edits where edit.attribute == .text {
                guard case .string(let text)? = edit.value else { continue }
                known.formUnion(text.words)
                unknown.subtract(text.words)
                if !isDeleted { shared.formUnion(text.words) }
            }
        }
        readParcels[id] = parcels.count
    }

    /// Records a revocation, which reverts texts of the lost device and the merges of these texts.
    mutating func readRevocation(_ scope: MemoryScope) {
        let before = texts.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        read(scope)
        superseded.formUnion(before.subtracting(texts.values.joined()))
    }

    /// Starts to read all parcels again, because an earlier state of the server was restored.
    mutating func readRestored(_ scope: MemoryScope) {
        (readTouched, readLost, readParcels, texts) = (0, 0, [:], [:])
        read(scope)
    }
}

extension MemoryScope {
    /// The words of a text in the bag.
    func words(of text: LostText) -> Set<String> {
        for stored in parcels[text.object] ?? [] where stored.parcel.textClock == text.clock {
            for edit in stored.parcel.edits where edit.attribute == .text {
                if case .string(let words)? = edit.value { return Set(words.words) }
            }
        }
        return []
    }
}

extension String {
    /// The words of a text of a simulated life.
    var words: [String] { split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init) }
}
