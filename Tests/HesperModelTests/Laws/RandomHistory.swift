@testable import HesperModel

/// Several devices that write, delete, merge tags, lose responses, have wrong clocks and sync after a restore.
struct RandomHistory {
    var world: World
    private var random: SeededGenerator
    private var ids: [Section: [UniqueID]] = [:]
    private var words = 0
    /// The statuses, outcomes and problem slugs in the receipts.
    private(set) var results: Set<String> = []

    init(devices: Int, using random: SeededGenerator) {
        world = World(devices: devices)
        self.random = random
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func any(_ section: Section) -> UniqueID? { ids[section]?.randomElement(using: &random) }

    private mutating func word() -> String {
        words += 1
        return "w\(words)"
    }

    /// One random action of a user, or one failure.
    mutating func step() throws {
        let device = number(0..<world.indices.count)
        switch number(0..<114) {
        case 0..<12:
            let id = world.id()
            ids[.notes, default: []].append(id)
            world[device].makeNote("\(word())\n\(word()) \(word())\n", id)
        case 12..<20:
            let id = world.id()
            ids[.tags, default: []].append(id)
            world[device].makeTag(tagName(), id)
        case 20..<24:
            let id = world.id()
            ids[.objects, default: []].append(id)
            world[device].make(.objects, id, [Edit(.objectType, .string("board"), at: nil)])
            // An app sets too many attributes: those beyond the limit are rejected, the others are applied.
            for index in 0..<(number(0..<12) == 0 ? Limits.objectAttributes + 2 : 1) {
                world[device].set(id, .custom("a\(index)"), .integer(Int64(index)))
            }
        case 24..<40: try write(on: device)
        case 40..<46: if let note = any(.notes) { edit(note, .archived, .bool(number(0..<2) == 0), on: device) }
        case 46..<50: if let note = any(.notes) { edit(note, .sortDate, .date(world.now), on: device) }
        case 50..<62:
            if let note = any(.notes), let tag = any(.tags) {
                edit(note, .tag(tag), .bool(number(0..<3) > 0), on: device)
            }
        case 62..<70: if let tag = any(.tags) { edit(tag, .name, .string(tagName()), on: device) }
        case 70..<72: if let one = any(.tags), let other = any(.tags) { swap(one, other, on: device) }
        case 72..<75:
            if let id = any([.notes, .tags, .objects][number(0..<3)]) { edit(id, .custom("a0"), custom(), on: device) }
        case 75..<78: if let id = any(Section.allCases[number(0..<4)]) { world[device].delete(id) }
        case 78..<80: world[device].clockError = Int64(number(-1000..<1000)) * 86_400_000
        case 80: world[device].close()
        case 81..<84: attachment(on: device)
        case 84..<95:
            if let note = any(.notes), let attachment = any(.attachments) {
                edit(note, .attachment(attachment), .bool(number(0..<5) > 0), on: device)
            }
        default:
            try world.sync(device, responseIsLost: number(0..<4) == 0)
            for receipt in world[device].receipts {
                results.insert(receipt.status.rawValue)
                for field in receipt.fields.values {
                    results.insert(field.problem?.slug.rawValue ?? field.outcome.rawValue)
                }
            }
        }
    }

    /// Creates an attachment after its upload. There are only a few, so that notes compete for them.
    private mutating func attachment(on device: Int) {
        guard ids[.attachments, default: []].count < 3 else { return }
        let id = world.id()
        ids[.attachments, default: []].append(id)
        world.server.bag.data[id] = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))
        world[device].make(.attachments, id, [Edit(.mimeType, .string("image/png"), at: nil)])
    }

    private mutating func custom() -> Value {
        switch number(0..<4) {
        case 0: .null
        case 1: .bool(number(0..<2) == 0)
        case 2: .number(Double(number(0..<100)) + 0.5)
        default: .string(word())
        }
    }

    private mutating func tagName() -> String {
        let name = ["Paris", "Rome", "red", "blue"][number(0..<4)]
        return number(0..<2) == 0 ? name : name.uppercased()
    }

    private mutating func edit(_ id: UniqueID, _ attribute: Attribute, _ value: Value, on device: Int) {
        if world[device].entity(id) != nil { world[device].set(id, attribute, value) }
    }

    private mutating func swap(_ one: UniqueID, _ other: UniqueID, on device: Int) {
        guard one != other, let first = world[device].tag(one)?.name, let second = world[device].tag(other)?.name
        else { return }
        world[device].rename(one, second)
        world[device].rename(other, first)
    }

    /// Inserts, changes or deletes a line.
    private mutating func write(on device: Int) throws {
        guard let note = any(.notes), let text = world[device].text(note) else { return }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let index = number(0..<lines.count)
        switch number(0..<4) {
        case 0: lines[index] += " " + word()
        case 1 where lines.count > 2: lines.remove(at: index)
        default: lines.insert(word(), at: index)
        }
        world[device].write(note, lines.joined(separator: "\n"))
    }
}
