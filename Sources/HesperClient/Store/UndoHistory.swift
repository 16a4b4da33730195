internal import HesperModel

/// A change that a transaction made, with the data that is needed to undo it.
enum UndoEntry: Sendable {
    case inserted(UniqueID, type: String)
    /// An object was deleted. The associated value is the object before its deletion.
    case deleted(LocalObject)
    case changed(UniqueID, type: String, Change)

    enum Change: Sendable {
        /// A register was set. Undo leaves the register unchanged if it has another clock by then.
        case set(String, before: Value?, after: Value, Clock)
        case add(String, Int)
        case text(String, before: String, after: String)
    }
}

/// A new object that undo or redo created, because the deletion of the former object could no longer be undone.
struct Remade: Sendable {
    let id: UniqueID
    /// The clock of each register of the new object. The key is the clock that the same register had in the former object.
    let clocks: [Clock: Clock]
}

/// The changes of this process's transactions, for undo and redo.
final class UndoHistory: Sendable {
    private struct State {
        var done: [[UndoEntry]] = []
        var undone: [[UndoEntry]] = []
    }

    private struct Turns {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let turns = Locked(Turns())
    private static let maximumSteps = 100

    /// Runs `body` after the earlier calls of this method have ended. Without turns, two calls of undo at the same time would reverse
    /// the same transaction.
    func inTurn<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { turn in
            let isFree = turns.withLock { turns in
                if turns.isTaken { turns.waiting.append(turn) }
                defer { turns.isTaken = true }
                return !turns.isTaken
            }
            if isFree { turn.resume() }
        }
        defer {
            let next = turns.withLock { turns in
                turns.isTaken = !turns.waiting.isEmpty
                return turns.waiting.isEmpty ? nil : turns.waiting.removeFirst()
            }
            next?.resume()
        }
        return try await body()
    }

    /// Adds the entries of a transaction. Transactions that were undone before can no longer be redone.
    func append(_ step: [UndoEntry]) {
        guard !step.isEmpty else { return }
        state.withLock { state in
            state.done.append(step)
            state.done.removeFirst(max(0, state.done.count - UndoHistory.maximumSteps))
            state.undone = []
        }
    }

    /// Forgets all transactions.
    func clear() { state.withLock { $0 = State() } }

    /// The entries of the last transaction to undo or to redo.
    func last(isRedo: Bool) -> [UndoEntry]? { state.withLock { isRedo ? $0.undone.last : $0.done.last } }

    /// Updates the history after an undo or a redo. After an undo, removes the last transaction in `done`, and adds `step` to
    /// `undone`. After a redo, removes the last transaction in `undone`, and adds `step` to `done`.
    /// - Parameters:
    ///   - step: the changes that the undo or redo made.
    ///   - remade: the objects that the undo or redo created again, by their former IDs. The remaining entries of the history are
    ///     changed to refer to the new objects.
    func reversed(isRedo: Bool, by step: [UndoEntry], remade: [UniqueID: Remade]) {
        state.withLock { state in
            _ = isRedo ? state.undone.popLast() : state.done.popLast()
            if !remade.isEmpty {
                state.done = state.done.map { $0.map { $0.replaced(remade) } }
                state.undone = state.undone.map { $0.map { $0.replaced(remade) } }
            }
            guard !step.isEmpty else { return }
            if isRedo { state.done.append(step) } else { state.undone.append(step) }
        }
    }

    var canUndo: Bool { state.withLock { !$0.done.isEmpty } }
    var canRedo: Bool { state.withLock { !$0.undone.isEmpty } }
}

extension UndoEntry {
    /// This entry, changed to refer to the new IDs and clocks of objects that were created again.
    fileprivate func replaced(_ remade: [UniqueID: Remade]) -> UndoEntry {
        switch self {
        case .inserted(let id, let type):
            return .inserted(remade[id]?.id ?? id, type: type)
        case .deleted:
            return self
        case .changed(let id, let type, let change):
            guard let object = remade[id] else { return self }
            guard case .set(let attribute, let before, let after, let clock) = change else {
                return .changed(object.id, type: type, change)
            }
            let standing = object.clocks[clock] ?? clock
            return .changed(object.id, type: type, .set(attribute, before: before, after: after, standing))
        }
    }
}

extension StoreWriter {
    /// Reverses the entries of a transaction with new edits, from the last to the first. Registers that have changed
    /// since are left unchanged. The change of a counter is subtracted, and the edit of a text is reversed by a merge.
    /// - Returns: the objects that were created again, by their former IDs.
    func reverse(
        _ step: [UndoEntry], defaults: (_ type: String, _ attribute: String) -> Value?
    ) throws -> [UniqueID: Remade] {
        var remade: [UniqueID: Remade] = [:]
        for entry in step.reversed() {
            switch entry.replaced(remade) {
            case .inserted(let id, let type):
                if let record = try live(id, type) { try delete(record) }
            case .deleted(let record):
                remade[record.id] = try restore(record)
            case .changed(let id, let type, let change):
                guard var record = try live(id, type) else { continue }
                try reverse(change, of: &record, defaults)
                try records.save(record)
            }
        }
        return remade
    }

    private func live(_ id: UniqueID, _ type: String) throws -> LocalObject? {
        guard try records.deletion(of: id) == nil else { return nil }
        return try records.object(id, type: type)
    }

    private func reverse(
        _ change: UndoEntry.Change, of record: inout LocalObject, _ defaults: (String, String) -> Value?
    ) throws {
        switch change {
        case .set(let attribute, let before, let after, let clock):
            guard record.cell(attribute)?.clock == clock else { return }
            let value = before ?? unset(attribute, of: record, like: after, defaults)
            let undone = try records.edit(&record, attribute, value)
            note(record, .set(attribute, before: after, after: value, undone))
        case .add(let attribute, let delta):
            try add(-delta, to: attribute, of: &record)
            note(record, .add(attribute, -delta))
        case .text(let attribute, let before, let after):
            try write(text: before, base: after, to: attribute, of: &record)
        }
    }

    /// The value that undo writes to a register that had no value before it was set.
    private func unset(
        _ attribute: String, of record: LocalObject, like after: Value, _ defaults: (String, String) -> Value?
    ) -> Value {
        if record.type == TypeName.note, attribute == "sortDate",
            let created = record.visibleFixed[AttributeName.creationDate]
        {
            return created
        }
        if let value = defaults(record.type, attribute) { return value }
        // The register belongs to an element of a set. For an ID or a number, the register's value is a Boolean, and `false`
        // removes the element. For a text that is not an ID, null removes the element (`ElementRegister`).
        if case .bool = after { return .bool(false) }
        return .null
    }

    /// Restores a deleted object. If its deletion is still held (not due to be sent), the same object is shown again. Otherwise, a
    /// new object with the same values is created.
    /// - Returns: the new object; nil if the same object was restored, or if it cannot be restored.
    private func restore(_ record: LocalObject) throws -> Remade? {
        if let deletion = try records.deletion(of: record.id) {
            if let heldUntil = deletion.heldUntil, records.now < heldUntil {
                try records.removeDeletion(of: record.id)
                note(.inserted(record.id, type: record.type))
                return nil
            }
        }
        // An attachment cannot be restored with a new ID, because its bytes on the server belong to the former ID.
        guard record.type != TypeName.attachment else { return nil }
        let id = records.newID()
        var copy = LocalObject(id: id, type: record.type)
        copy.made = LocalObject.Made(fixed: record.visibleFixed)
        let former = record.visible.sorted { ($0.value.clock, $0.key) < ($1.value.clock, $1.key) }
        let values = former.map { (attribute: $0.key, value: $0.value.value) }
        guard let made = try records.insert(copy, values: values) else { return nil }
        note(.inserted(id, type: record.type))
        let clocks = former.compactMap { attribute, cell in made.cell(attribute).map { (cell.clock, $0.clock) } }
        return Remade(id: id, clocks: Dictionary(clocks) { first, _ in first })
    }
}
