import Foundation

/// A recorded session of several people typing one text, in the format of github.com/josephg/editing-traces.
struct EditingTrace: Decodable, Sendable {
    struct Transaction: Decodable, Sendable {
        let agent: Int
        let parents: [Int]
        let patches: [Patch]
    }

    /// A change at a position, in Unicode scalars of the person's view: some scalars are deleted and others inserted.
    struct Patch: Decodable, Sendable {
        let position: Int
        let deleted: Int
        let inserted: String

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            position = try values.decode(Int.self)
            deleted = try values.decode(Int.self)
            inserted = try values.decode(String.self)
        }
    }

    let endContent: String
    let txns: [Transaction]

    /// Reads a trace from the shared folder; nil if it does not exist.
    static func read(_ name: String) throws -> EditingTrace? {
        let shared =
            ProcessInfo.processInfo.environment["HESPER_SHARED"].map { URL(filePath: $0) }
            ?? Folders.package.deletingLastPathComponent().appending(path: "shared")
        let file = shared.appending(path: "data/editing-traces/\(name).json.gz")
        guard FileManager.default.isReadableFile(atPath: file.path) else { return nil }
        let gzip = Process()
        gzip.executableURL = URL(filePath: "/usr/bin/env")
        gzip.arguments = ["gzip", "-dc", file.path]
        let pipe = Pipe()
        gzip.standardOutput = pipe
        try gzip.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        gzip.waitUntilExit()
        return try JSONDecoder().decode(EditingTrace.self, from: data)
    }
}

/// The text as one person of a trace sees it: all scalars ever inserted, in order, with deleted ones hidden.
///
/// Positions in a trace refer to the person's own view, so the other person's edits must be applied to it as they were during the
/// recording. No two people inserted in the same place concurrently, so inserting after the left neighbour is sufficient.
struct TraceView {
    struct Item {
        let id: Int
        let scalar: Unicode.Scalar
        var isVisible = true
    }

    /// One scalar inserted after another, or hidden.
    enum Step {
        case insert(Item, after: Int?)
        case hide(Int)
    }

    private(set) var items: [Item] = []
    /// The last position of typing: an index, and the number of visible items before it. The next edit is usually nearby.
    private var cursor = (index: 0, position: 0)
    private var remote = 0

    /// The scalars that the person sees.
    var numbers: [Int32] {
        var numbers: [Int32] = []
        numbers.reserveCapacity(items.count)
        for item in items where item.isVisible { numbers.append(Int32(truncatingIfNeeded: item.scalar.value)) }
        return numbers
    }

    /// Applies a patch by this person. Returns the steps, for the other person's view.
    mutating func apply(_ patch: EditingTrace.Patch, nextID: inout Int) -> [Step] {
        var steps: [Step] = []
        move(to: patch.position)
        var index = cursor.index
        var left = patch.deleted
        while left > 0, index < items.count {
            if items[index].isVisible {
                items[index].isVisible = false
                steps.append(.hide(items[index].id))
                left -= 1
            }
            index += 1
        }
        for scalar in patch.inserted.unicodeScalars {
            let item = Item(id: nextID, scalar: scalar)
            nextID += 1
            steps.append(.insert(item, after: cursor.index > 0 ? items[cursor.index - 1].id : nil))
            items.insert(item, at: cursor.index)
            cursor = (cursor.index + 1, cursor.position + 1)
        }
        return steps
    }

    /// Applies a step by the other person.
    mutating func apply(_ step: Step) {
        switch step {
        case .hide(let id):
            guard let index = index(of: id), items[index].isVisible else { return }
            items[index].isVisible = false
            if index < cursor.index { cursor.position -= 1 }
        case .insert(let item, let before):
            let index = before.flatMap { self.index(of: $0) }.map { $0 + 1 } ?? 0
            items.insert(item, at: index)
            if index <= cursor.index { cursor = (cursor.index + 1, cursor.position + 1) }
            remote = index
        }
    }

    private mutating func move(to position: Int) {
        while cursor.position > position, cursor.index > 0 {
            cursor.index -= 1
            if items[cursor.index].isVisible { cursor.position -= 1 }
        }
        while cursor.position < position, cursor.index < items.count {
            if items[cursor.index].isVisible { cursor.position += 1 }
            cursor.index += 1
        }
    }

    /// Searches outward from the place of the last step.
    private mutating func index(of id: Int) -> Int? {
        for distance in 0...max(1, items.count) {
            for index in [remote - distance, remote + distance] where items.indices.contains(index) {
                if items[index].id == id {
                    remote = index
                    return index
                }
            }
        }
        return nil
    }
}
