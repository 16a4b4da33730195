internal import Foundation
internal import GRDB
internal import HesperModel

/// The data of an object that must be resent, because a restored server lacks this data (protocol.md, Restored servers).
struct Relay {
    let id: UniqueID
    /// The object's type; nil for a DeletedObject.
    var type: String?
    /// The names of the registers to resend; nil for all registers.
    var attributes: [String]?
    /// Whether the fields that are set once are resent too.
    var isWhole = true
    /// The texts to resend. A push contains at most one text of each attribute. The texts are copied here because the restored
    /// server's text may replace the object's text before they are resent.
    var texts: [Text] = []
    /// The server's values of the fields that are set once. The local copy reverts to them if the server refuses the resent values.
    var theirFixed: [String: Value] = [:]
    /// The server's registers of the object. The local copy reverts to them if the server refuses the resent values.
    var theirRegisters: [String: Cell] = [:]

    struct Text: Equatable {
        var attribute: String
        var cell: Cell
    }
}

extension RecordsTransaction {
    /// Prepares a sync that receives all objects of the server again. All acknowledged objects and DeletedObjects are put on the
    /// list of data to resend. When this sync receives an object, it removes the data that the server has from the list.
    func startOver() throws {
        let earlierTexts = try relays().reduce(into: [UniqueID: [Relay.Text]]()) { $0[$1.id] = $1.texts }
        try database.execute(sql: "DELETE FROM relays")
        for type in try types {
            for id in try ids(type) {
                guard let object = try object(id, type: type), object.isAcknowledged else { continue }
                var relay = Relay(id: id, type: type)
                let texts = object.texts.compactMap { attribute in
                    object.registers[attribute].map { Relay.Text(attribute: attribute, cell: $0) }
                }
                relay.texts = (earlierTexts[id] ?? []).filter { !texts.contains($0) } + texts
                try save(relay)
            }
        }
        try forEachDeleted { try save(Relay(id: $0.uniqueID)) }
        try withSync { sync in
            sync.token = nil
            sync.serverDigest = nil
            sync.hasStartedOver = true
            sync.isReading = true
        }
    }

    /// Records which values of an object are to be resent, because the server has the object, but lacks these values or has
    /// older ones.
    /// - Parameters:
    ///   - ours: the local object, before the server's values were folded in.
    ///   - theirs: the server's object.
    func compare(_ ours: LocalObject, with theirs: LocalObject) throws {
        func isLacking(_ attribute: String, _ clock: Clock) -> Bool {
            theirs.registers[attribute].map { $0.clock < clock } ?? true
        }
        var relay = Relay(id: ours.id, type: ours.type)
        relay.texts =
            try self.relay(ours.id)?.texts.filter { text in
                theirs.registers[text.attribute]?.clock != text.cell.clock
            } ?? []
        relay.attributes = ours.registers.compactMap { attribute, cell in
            let isDue =
                AttributeName.isText(attribute)
                ? relay.texts.contains { $0.attribute == attribute } : isLacking(attribute, cell.clock)
            return isDue ? attribute : nil
        }.sorted()
        relay.isWhole = ours.fixed.contains { name, value in
            guard let their = theirs.fixed[name] else { return true }
            guard name == AttributeName.creationDate, case .string(let date) = value,
                case .string(let theirDate) = their
            else { return false }
            return date < theirDate
        }
        relay.theirFixed = theirs.fixed
        relay.theirRegisters = theirs.registers
        if relay.isWhole || relay.attributes?.isEmpty == false {
            try save(relay)
        } else {
            try removeRelay(ours.id)
        }
    }

    /// The next push of data that the server lacks.
    func nextRelays(limit: Int) throws -> PushBatch {
        var push = PushBatch(isRelay: true)
        var size = 0
        // DeletedObjects are sent first, then tags (clients.md, rule 10).
        let sql = """
            SELECT id, record FROM relays
            ORDER BY CASE coalesce(record ->> 'type', '') WHEN '' THEN 0 WHEN 'tag' THEN 1 ELSE 2 END, id
            """
        let cursor = try Row.fetchCursor(database.cachedStatement(sql: sql))
        var stale: [UniqueID] = []
        while let row = try cursor.next() {
            guard let relay = try Relay(row: row) else { continue }
            guard let type = relay.type else {
                guard let deleted = try deleted(relay.id) else {
                    stale.append(relay.id)
                    continue
                }
                guard push.count < limit else { break }
                push.deletions.append(LocalDeletion(deleted, heldUntil: nil))
                size += 200
                continue
            }
            guard let object = try object(relay.id, type: type) else {
                stale.append(relay.id)
                continue
            }
            var edits: [String: LocalEdit] = [:]
            for attribute in relay.attributes ?? Array(object.registers.keys) {
                let text = relay.texts.first { $0.attribute == attribute }?.cell
                guard let cell = text ?? object.registers[attribute] else { continue }
                var edit = LocalEdit(cell.value, at: cell.clock)
                if AttributeName.isText(attribute), case .string(let words) = cell.value {
                    edit.descent = LocalEdit.Descent(base: LocalEdit.Base(words, at: cell.clock))
                }
                edits[attribute] = edit
            }
            let made = relay.isWhole ? LocalObject.Made(fixed: object.fixed) : nil
            let part = PushBatch.Part(id: relay.id, type: type, made: made, edits: edits).fitting
            guard push.add(part, size: &size, limit: limit) else { break }
        }
        for id in stale { try removeRelay(id) }
        return push
    }

    /// Records that a part of an object was resent. If the object has more texts to resend, the next push contains one text
    /// of each attribute, because a push can contain only one value of an attribute.
    func markGiven(_ part: PushBatch.Part) throws {
        guard var relay = try relay(part.id) else { return }
        for attribute in part.edits.keys.filter(AttributeName.isText) {
            if let index = relay.texts.firstIndex(where: { $0.attribute == attribute }) {
                relay.texts.remove(at: index)
            }
        }
        guard !relay.texts.isEmpty else { return try removeRelay(part.id) }
        relay.isWhole = false
        relay.attributes = Set(relay.texts.map(\.attribute)).sorted()
        try save(relay)
    }

    /// Handles the refusal of a resent value: replaces the value in the local copy with the server's value.
    /// - Parameter attribute: the register; nil for the fields that are set once.
    func giveUp(_ attribute: String?, of object: inout LocalObject) throws {
        let relay = try relay(object.id)
        if let attribute {
            object.registers[attribute] = relay?.theirRegisters[attribute]
        } else {
            object.fixed = relay?.theirFixed ?? [:]
        }
    }

    // MARK: Storage

    private func relays() throws -> [Relay] {
        try Row.fetchAll(database, sql: "SELECT id, record FROM relays").compactMap { try Relay(row: $0) }
    }

    private func relay(_ id: UniqueID) throws -> Relay? {
        let statement = try database.cachedStatement(sql: "SELECT id, record FROM relays WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id.data]).flatMap { try Relay(row: $0) }
    }

    private func save(_ relay: Relay) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO relays VALUES (?, ?)")
            .execute(arguments: [relay.id.data, relay.json.text])
    }

    func removeRelay(_ id: UniqueID) throws {
        try database.cachedStatement(sql: "DELETE FROM relays WHERE id = ?").execute(arguments: [id.data])
    }
}

extension Relay {
    fileprivate var json: JSON {
        func cells(_ cells: [String: Cell]) -> JSON {
            .object(JSONObject(cells.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
        }
        return JSON(members: [
            ("type", type.map(JSON.string)), ("attributes", attributes.map { .array($0.map(JSON.string)) }),
            ("isWhole", .bool(isWhole)),
            ("texts", .array(texts.map { $0.cell.json.adding([("attribute", .string($0.attribute))]) })),
            ("theirFixed", .object(JSONObject(theirFixed.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))),
            ("theirRegisters", cells(theirRegisters)),
        ])
    }

    fileprivate init?(row: Row) throws {
        guard let id = UniqueID(row: row) else { return nil }
        let json = try JSON(text: row[1])
        self.init(id: id, type: json["type"]?.string)
        attributes = json["attributes"].map { $0.elements.compactMap(\.string) }
        isWhole = json["isWhole"]?.bool ?? true
        texts =
            json["texts"]?.elements.compactMap { json in
                Cell(json: json).map { Text(attribute: json["attribute"]?.string ?? AttributeName.text, cell: $0) }
            } ?? []
        for member in json["theirFixed"]?.members ?? [] { theirFixed[member.name] = Value(scalar: member.value) }
        for member in json["theirRegisters"]?.members ?? [] {
            theirRegisters[member.name] = Cell(json: member.value)
        }
    }
}
