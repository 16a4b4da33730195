internal import HesperClient
internal import HesperModel

/// Records the actions of the people of a simulated life, and the data that the server has had, for the checks. Each word is typed
/// only once, so that it can be followed through all texts.
///
/// After a push, only the objects that the push touched are read, so that the time for reading does not grow with the length of the
/// life.
struct Ledger {
    // MARK: What people did

    /// The device that typed each word.
    private(set) var authors: [String: String] = [:]
    /// Words that were removed on a device that had received them.
    private(set) var removed: Set<String> = []
    /// The value that the counter of each recipe must have.
    private(set) var counts: [UniqueID: Int] = [:]
    /// The devices that changed the counter of each recipe.
    private(set) var countedBy: [UniqueID: Set<String>] = [:]
    /// The labels that were added to each recipe.
    private(set) var labels: [UniqueID: Set<String>] = [:]
    /// The labels that were removed from each recipe.
    private(set) var removedLabels: [UniqueID: Set<String>] = [:]
    /// The devices that added or removed labels of each recipe.
    private(set) var labeledBy: [UniqueID: Set<String>] = [:]
    /// The bytes of each attachment that was added to a note.
    private(set) var files: [UniqueID: [UInt8]] = [:]
    /// For each recipe, what people did with each property that is an attachment.
    private(set) var recipeFiles: [UniqueID: [Attribute: FileActions]] = [:]
    /// The attachments that were moved from one property or recipe to another.
    private(set) var movedFiles: Set<UniqueID> = []
    /// For each attachment, the note to which it was added and the device that added it. Attachments that were removed or moved are
    /// left out.
    private(set) var attached: [UniqueID: (note: UniqueID, device: String)] = [:]
    /// The devices that were lost and revoked.
    var lostDevices: Set<String> = []
    /// The nodes of the devices that were revoked.
    var revokedNodes: Set<NodeID> = []
    /// The nodes that two devices share, because the database file of one device is an undetected copy of the other device's file.
    var sharedNodes: Set<NodeID> = []
    /// The names of the devices that share a node with another device.
    var twins: Set<String> = []
    private var words = 0

    /// What people did with a property that is an attachment.
    struct FileActions {
        /// The hashes of the attachments to which the property was set.
        var hashes: Set<String> = []
        /// Whether the property was set to nil.
        var isCleared = false
        /// The devices that changed the property.
        var devices: Set<String> = []
    }

    // MARK: What the server has had

    /// Words that the server has had at any time.
    private(set) var known: Set<String> = []
    /// Words that were typed, and that the server has never had.
    private(set) var unknown: Set<String> = []
    /// Words that arrived in a text of an object that was not deleted. Words that were pushed to a deleted object are left
    /// out. Other devices receive such a word only after its device has moved it to another object.
    private(set) var shared: Set<String> = []
    /// All objects that were ever deleted on the server, even if a backup from before the deletion was restored later.
    private(set) var dead: Set<UniqueID> = []
    /// The greatest clock that each register has had on the server.
    private(set) var clocks: [UniqueID: [Attribute: Clock]] = [:]
    /// The words of the texts of each live object.
    private var texts: [UniqueID: Set<String>] = [:]
    /// The number of elements of ``MemoryScope/touched`` that earlier calls of ``read(_:isSeen:)`` have read.
    private var readTouched = 0
    /// The number of elements of ``MemoryScope/lostTexts`` that earlier calls of ``read(_:isSeen:)`` have read.
    private var readLost = 0
    /// For each object, the number of its parcels that earlier calls of ``read(_:isSeen:)`` have read.
    private var readParcels: [UniqueID: Int] = [:]

    // MARK: Exceptions

    /// Words that need not be in any text, because a merge replaced them or a revocation undid their edits. They are in the history
    /// of an object.
    private(set) var superseded: Set<String> = []
    /// Words that need not be in any text, because a device deleted their object without having received them, and the server could
    /// not know this (docs/decisions, record 71).
    private(set) var unseen: Set<String> = []
    /// For each object, the words that a restored server lacks and that no device has pushed again yet. If the object is deleted
    /// before these words are pushed, the device that deletes it may not have seen them.
    private var unrestored: [UniqueID: Set<String>] = [:]
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

    /// Records that a property of a recipe was set to an attachment with this hash, or to nil.
    mutating func setFile(_ attribute: Attribute, of recipe: UniqueID, hash: String?, by device: String) {
        var actions = recipeFiles[recipe]?[attribute] ?? FileActions()
        if let hash { actions.hashes.insert(hash) } else { actions.isCleared = true }
        actions.devices.insert(device)
        recipeFiles[recipe, default: [:]][attribute] = actions
    }

    mutating func move(_ attachment: UniqueID) { movedFiles.insert(attachment) }

    /// Records words that may occur twice in a text. This is possible if two devices send them because one database file is a copy
    /// of the other, or if two texts contain them and the server cannot know that one text descends from the other.
    mutating func mayDouble(_ words: some Sequence<String>) { doubled.formUnion(words) }

    /// Records the changes that a request made on the server.
    /// - Parameter isSeen: returns whether the device that deleted an object had seen the words of the object, as far as the server
    ///   can know.
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
                unseen.formUnion(unrestored.removeValue(forKey: id) ?? [])
            case .entity(let entity, _)?:
                entity.forEachRegister { attribute, clock in
                    clocks[id, default: [:]][attribute] = max(clocks[id]?[attribute] ?? clock, clock)
                }
                let words = Set(entity.mergedTexts.flatMap(\.words))
                texts[id] = words.isEmpty ? nil : words
                unrestored[id]?.subtract(words)
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
            for edit in stored.parcel.edits where edit.attribute.isText {
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
        let before = texts
        (readTouched, readLost, readParcels, texts) = (0, 0, [:], [:])
        read(scope)
        for (id, words) in before { unrestored[id, default: []].formUnion(words.subtracting(texts[id] ?? [])) }
    }
}

extension MemoryScope {
    /// The words of one version of a text, read from the bag of its object.
    func words(of text: LostText) -> Set<String> {
        for stored in parcels[text.object] ?? [] where stored.parcel.textClock == text.clock {
            for edit in stored.parcel.edits where edit.attribute == text.attribute {
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
