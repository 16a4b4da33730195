import Foundation
import HesperClient

import struct HesperModel.Timestamp

/// One device: a store in a folder, used as an app uses it. Only the wall clock and the place of `state` are set by the test.
actor Device {
    private let folder: URL
    /// The difference of this device's wall clock to the real one, in milliseconds.
    private let wall = Locked<Int64>(0)
    private var opened: LocalStore?
    private var isOld = false

    init(folder: URL) { self.folder = folder }

    private var file: URL { folder.appending(path: "copy.sqlite") }

    private struct NotOpen: Error {}

    private var store: LocalStore {
        get throws {
            guard let opened else { throw NotOpen() }
            return opened
        }
    }

    private func open() async throws {
        let wall = wall
        opened = try await LocalStore(
            at: file, FolderMemory(folder: folder.appending(path: "state")),
            now: { Timestamp(clamping: LocalDatabase.wallClock().milliseconds + wall.withLock { $0 }) },
            [Contact.self, isOld ? OldRecipe.self : Recipe.self])
    }

    func carryOut(_ command: Command) async throws -> any Encodable & Sendable {
        switch command {
        case .open(let offset, let isOld):
            wall.withLock { $0 = offset ?? 0 }
            self.isOld = isOld ?? false
            try await open()
        case .close:
            await opened?.suspend()
            opened = nil
        case .setWall(let offset): wall.withLock { $0 = offset }
        case .signIn(let server, let email, let password, let deviceName):
            try await store.signIn(to: server, email: email, password: password, deviceName: deviceName)
        case .resume: try await store.resume()
        case .suspend: try await store.suspend()
        case .sync(let seconds):
            return StatusReport(try await store.syncNow(deadline: .milliseconds(Int64(seconds * 1_000))))
        case .status: return StatusReport(try store.status)
        case .makeNote(let id, let text, let tags, let isPinned, let creationDate):
            let now = LocalDatabase.wallClock().milliseconds + wall.withLock { $0 }
            let created = Date(timeIntervalSince1970: Double(creationDate ?? now) / 1_000)
            var note = Note(text: MergedText(text), creationDate: created)
            note.id = try id.map(identifier) ?? note.id
            note.tags = MergedSet(try tags.map { try identifier($0) as Tag.ID })
            note.isPinned = isPinned ?? false
            return try await store.insert(note).id
        case .makeTag(let id, let name):
            var tag = Tag(name: name)
            tag.id = try id.map(identifier) ?? tag.id
            return try await store.insert(tag).id
        case .makeContact(let id, let name, let mobile, let work):
            var contact = Contact()
            contact.id = try id.map(identifier) ?? contact.id
            (contact.name, contact.mobile, contact.work) = (name, mobile, work)
            return try await store.insert(contact).id
        case .makeRecipe(let id, let title, let method, let tips):
            var recipe = Recipe()
            recipe.id = try id.map(identifier) ?? recipe.id
            recipe.title = title
            (recipe.method, recipe.tips) = (MergedText(method), MergedText(tips))
            return try await store.insert(recipe).id
        case .makeContacts(let count): try await makeContacts(count)
        case .edit(let type, let id, let attribute, let value):
            try await edit(type, id, attribute, value ?? .null)
        case .replaceText(let id, let base, let text):
            return try await store.write { tx in
                guard var note = try tx.get(try identifier(id) as Note.ID), note.text.string == base else {
                    return false
                }
                note.text.string = text
                try tx.save(note)
                return true
            }
        case .delete(let type, let id, let isHeld):
            switch type {
            case Note.objectType: try await store.delete(try identifier(id) as Note.ID)
            case Tag.objectType: try await store.delete(try identifier(id) as Tag.ID)
            case Attachment.objectType: try await store.delete(try identifier(id) as Attachment.ID)
            case Contact.objectType: try await store.delete(try identifier(id) as Contact.ID)
            case OldRecipe.objectType where isOld: try await store.delete(try identifier(id) as OldRecipe.ID)
            case Recipe.objectType: try await store.delete(try identifier(id) as Recipe.ID)
            default: throw InvalidCommand(type)
            }
            if isHeld != true { try await store.sendDeletionsNow() }
        case .attach(let file, let note, let filename, let mimeType):
            let note: Note.ID = try identifier(note)
            return try await store.attach(URL(filePath: file), to: note, filename: filename, mimeType: mimeType).id
        case .attachToRecipe(let file, let id, let property, let filename, let mimeType):
            return try await store.attach(
                URL(filePath: file), to: try identifier(id) as Recipe.ID,
                as: property == "photo" ? \.photo : \.scan, filename: filename, mimeType: mimeType
            ).id
        case .undo: return try await store.undo()
        case .redo: return try await store.redo()
        case .note(let id): return try await store.get(try identifier(id) as Note.ID).map(NoteReport.init)
        case .notes: return try await store.all(Note.self).map(NoteReport.init)
        case .tags:
            return Dictionary(
                uniqueKeysWithValues: try await store.all(Tag.self).map { ($0.id.description, $0.name) })
        case .contacts: return try await store.all(Contact.self)
        case .recipes where isOld: return try await store.all(OldRecipe.self)
        case .recipes: return try await store.all(Recipe.self)
        case .formerMethods(let id): return try await store.formerTexts(of: try identifier(id) as Recipe.ID, \.$method)
        case .count(let type):
            guard type == Contact.objectType else { throw InvalidCommand(type) }
            return try await store.count(Contact.self)
        case .download(let id):
            return try await store.download(try identifier(id) as Attachment.ID)?.base64EncodedString()
        case .notices:
            for try await notices in try store.notices { return notices.map(NoticeReport.init) }
        case .shelf:
            for try await changes in try store.shelf { return changes.map(ShelfReport.init) }
        case .saveUnsent(let path): return try LocalStore.saveUnsent(in: file, to: URL(filePath: path))
        }
        return Scalar.null
    }

    private struct InvalidCommand: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private nonisolated func identifier<Object>(_ text: String) throws -> ObjectID<Object> {
        guard let id = ObjectID<Object>(text) else { throw InvalidCommand(text) }
        return id
    }

    // MARK: Writing

    private func makeContacts(_ count: Int) async throws {
        for first in stride(from: 0, to: count, by: 1_000) {
            try await store.write { tx in
                for number in first..<min(first + 1_000, count) {
                    var contact = Contact()
                    contact.name = "Person \(number)"
                    contact.mobile = "+44 7700 \(900_000 + number)"
                    try tx.insert(contact)
                }
            }
        }
    }

    private func edit(_ type: String, _ id: String, _ attribute: String, _ value: Scalar) async throws {
        let parts = attribute.split(separator: ".", maxSplits: 1).map(String.init)
        let member = parts.count > 1 ? parts[1] : ""
        switch (type, parts[0]) {
        case (Note.objectType, "text"):
            try await update(id) { (note: inout Note) in note.text.string = value.string }
        case (Note.objectType, "archived"):
            try await update(id) { (note: inout Note) in note.isArchived = value.bool }
        case (Note.objectType, "attributes") where member == "pinned":
            try await update(id) { (note: inout Note) in note.isPinned = value.bool }
        case (Note.objectType, "tags"):
            let tag: Tag.ID = try identifier(member)
            try await update(id) { (note: inout Note) in note.tags.set(tag, value.bool) }
        case (Note.objectType, "attachments"):
            let attachment: Attachment.ID = try identifier(member)
            try await update(id) { (note: inout Note) in note.attachments.set(attachment, value.bool) }
        case (Tag.objectType, "name"): try await update(id) { (tag: inout Tag) in tag.name = value.string }
        case (OldRecipe.objectType, "attributes") where isOld && member == "title":
            try await update(id) { (recipe: inout OldRecipe) in recipe.title = value.string }
        case (Recipe.objectType, _):
            try await update(id) { (recipe: inout Recipe) in
                switch attribute {
                case "attributes.title": recipe.title = value.string
                case "texts.method": recipe.method.string = value.string
                case "texts.tips": recipe.tips.string = value.string
                case "files.photo": recipe.photo = Attachment.ID(value.string)
                case "files.scan": recipe.scan = Attachment.ID(value.string)
                default: throw InvalidCommand(attribute)
                }
            }
        case (Contact.objectType, "attributes"):
            try await update(id) { (contact: inout Contact) in
                switch member {
                case "name": contact.name = value.string
                case "mobile": contact.mobile = value.string
                case "work": contact.work = value.string
                case "calls": contact.calls += value.integer
                default:
                    guard member.hasPrefix("groups.") else { throw InvalidCommand(attribute) }
                    contact.groups.set(String(member.dropFirst("groups.".count)), value.bool)
                }
            }
        default: throw InvalidCommand(attribute)
        }
    }

    private func update<Object: SyncedObject>(
        _ id: String, _ body: @Sendable (inout Object) throws -> Void
    ) async throws {
        try await store.update(try identifier(id), body)
    }
}

extension MergedSet {
    fileprivate mutating func set(_ element: Element, _ isIn: Bool) {
        if isIn { insert(element) } else { remove(element) }
    }
}
