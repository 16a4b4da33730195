/// Reads the `changes` of a push.
///
/// A wrong top-level shape or too many elements refuse the whole; everything wrong inside one element is refused there.
public enum PushReader {
    /// - Parameters:
    ///   - json: the value of `changes`.
    ///   - pointer: where it stands in the request.
    /// - Throws: ``Problem`` `invalid-field`, `unknown-field` or `too-large`, if nothing of it can be applied.
    public static func read(_ json: JSON, at pointer: String = "/changes") throws(Problem) -> Push {
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "changes is an object of lists, not \(json.kind).", at: pointer)
        }
        var push = Push()
        for member in object.members {
            let place = "\(pointer)/\(JSONPointer.escape(member.name))"
            let section = Section.allCases.first { $0.name == member.name }
            guard section != nil || member.name == "deletedObjects" else {
                throw Problem(
                    .unknownField,
                    "\(member.name.prefix(64)) is not known here: changes has notes, tags, attachments, objects and deletedObjects.",
                    at: place)
            }
            guard case .array(let elements) = member.value else {
                throw Problem(.invalidField, "\(member.name) is an array, not \(member.value.kind).", at: place)
            }
            guard push.elements.count + elements.count <= Limits.pushObjects else {
                throw Problem(
                    .tooLarge, "A push has at most \(Limits.pushObjects) objects: send them in several.", at: place,
                    context: ["limit": .integer(Int64(Limits.pushObjects))])
            }
            for (index, element) in elements.enumerated() {
                push.elements.append(
                    section.map { change(element, in: $0, at: "\(place)/\(index)") }
                        ?? deletion(element, at: "\(place)/\(index)"))
            }
        }
        return push
    }

    /// Reads an object, or a DeletedObject, as sync sends it, to be pushed as it stands there: all that was ever set, with the
    /// clocks that it always had.
    /// - Parameters:
    ///   - section: the list that it is in; nil for DeletedObjects.
    ///   - pointer: where it stands.
    public static func state(_ json: JSON, in section: Section?, at pointer: String) -> Push.Element {
        guard let section else { return deletion(json, at: pointer) }
        guard case .change(var change) = change(json, in: section, at: pointer) else {
            return change(json, in: section, at: pointer)
        }
        // What was never set has its default and no clock.
        change.refused = change.refused.filter { $0.value.slug != .clockMissing }
        return .change(change)
    }

    /// The object of an element and its ID, or the receipt that refuses it.
    private static func identify(
        _ json: JSON, type: String?, at pointer: String
    ) -> Result<(JSONObject, UniqueID), Refusal> {
        guard case .object(let object) = json else {
            return .failure(
                Refusal(
                    type: type, problem: Problem(.invalidField, "An object is wanted, not \(json.kind).", at: pointer)))
        }
        guard case .string(let text)? = object["uniqueID"], let id = UniqueID(text) else {
            return .failure(
                Refusal(type: type, problem: Problem(.invalidField, "uniqueID is a UUID.", at: "\(pointer)/uniqueID")))
        }
        return .success((object, id))
    }

    private struct Refusal: Error {
        var id: UniqueID?
        let type: String?
        let problem: Problem

        func element(at pointer: String) -> Push.Element {
            .refused(Receipt(uniqueID: id, objectType: type, pointer: pointer, status: .rejected, problem: problem))
        }
    }

    private static func change(_ json: JSON, in section: Section, at pointer: String) -> Push.Element {
        switch identify(json, type: section.objectType?.name, at: pointer) {
        case .failure(let refusal): return refusal.element(at: pointer)
        case .success((let object, let id)):
            return .change(change(object, id: id, in: section, at: pointer))
        }
    }

    static func change(_ object: JSONObject, id: UniqueID, in section: Section, at pointer: String) -> Change {
        var reader = ElementReader(object, at: pointer)
        var textBase: Clock?
        var textBaseValue: String?
        var textAfter: [Clock]?
        for part in section.parts { reader.read(part) }
        if section == .notes {
            textBase = reader.plainClock("textBase")
            textAfter = reader.plainClocks("textAfter", limit: Limits.textAfter)
            if case .string(let text)? = reader.value("textBaseValue", FieldValue.text) { textBaseValue = text }
            if let field = ["textBase", "textAfter", "textBaseValue"].first(where: { reader.refused[$0] != nil }) {
                reader.drop(.text, "text must come with a valid \(field)")
            }
        }
        reader.refuseUnknown()
        return Change(
            uniqueID: id, section: section, pointer: pointer, edits: reader.edits, textBase: textBase,
            textBaseValue: textBaseValue, textAfter: textAfter, refused: reader.refused)
    }

    /// One DeletedObject of a push.
    private static func deletion(_ json: JSON, at pointer: String) -> Push.Element {
        switch identify(json, type: nil, at: pointer) {
        case .failure(let refusal): return refusal.element(at: pointer)
        case .success((let object, let id)):
            do throws(Problem) {
                return .deletion(try deletion(object, id: id, at: pointer))
            } catch {
                var refusal = Refusal(type: nil, problem: error)
                refusal.id = id
                return refusal.element(at: pointer)
            }
        }
    }

    private static func deletion(_ object: JSONObject, id: UniqueID, at pointer: String) throws(Problem) -> Deletion {
        func invalid(_ field: String, _ what: String) -> Problem {
            Problem(.invalidField, "\(field) must be \(what).", at: "\(pointer)/\(field)")
        }
        guard case .string(let name)? = object["objectType"], let type = ObjectType(name) else {
            throw invalid("objectType", "note, tag, attachment or a type that your app made up")
        }
        var target: UniqueID?
        if let json = object["mergedInto"] {
            guard case .string(let text) = json, let id2 = UniqueID(text), id2 != id, type == .tag else {
                throw invalid("mergedInto", "the ID of another tag, for a tag")
            }
            target = id2
        }
        var rescue: UniqueID?
        if let json = object["rescuedInto"] {
            guard case .string(let text) = json, let named = UniqueID(text), named == id.rescue, type == .note else {
                throw invalid("rescuedInto", "\(id.rescue), and the object a note")
            }
            rescue = named
        }
        var date: Timestamp?
        if let json = object["deletionDate"] {
            guard case .success(.date(let value)) = FieldValue.date(json) else {
                throw invalid("deletionDate", "a date (RFC 3339)")
            }
            date = value
        }
        var seen: Deletion.TextSeen?
        if let json = object["textSeen"] {
            guard case .string(let text) = json, type == .note else {
                throw invalid("textSeen", "the clock of a note's text, or empty if it had none")
            }
            if text.isEmpty {
                seen = Deletion.TextSeen.none
            } else {
                guard let clock = Clock(text) else { throw invalid("textSeen", "a clock as the server sent it") }
                seen = .version(clock)
            }
        }
        var after: [Clock] = []
        if let json = object["textAfter"] {
            guard case .array(let list) = json, list.count <= Limits.textAfter else {
                throw invalid("textAfter", "an array of at most \(Limits.textAfter) clocks")
            }
            for (index, element) in list.enumerated() {
                guard case .string(let text) = element, let clock = Clock(text) else {
                    throw invalid("textAfter/\(index)", "a clock")
                }
                after.append(clock)
            }
        }
        let known = [
            "uniqueID", "objectType", "mergedInto", "rescuedInto", "deletionDate", "textSeen", "textAfter",
        ]
        for member in object.members where !known.contains(member.name) {
            throw Problem(
                .unknownField, "\(member.name.prefix(64)) is not known here.",
                at: "\(pointer)/\(JSONPointer.escape(member.name))")
        }
        return Deletion(
            uniqueID: id, objectType: type, mergedInto: target, rescuedInto: rescue, deletionDate: date,
            textSeen: seen, textAfter: after, pointer: pointer)
    }
}

extension Entity {
    /// Reads a body as ``body`` wrote it.
    /// - Throws: ``Problem`` if it is not one: what is kept was damaged.
    public static func read(
        _ body: UnsafeRawBufferPointer, id: UniqueID, section: Section
    ) throws(Problem) -> Entity {
        var entity = section.empty(id)
        for edit in try edits(in: body, id: id, section: section) { entity.fold(edit) }
        return entity
    }

    /// The edits that stand in a body as ``body`` wrote it: folded, they come to that object.
    /// - Throws: ``Problem`` if it is not one: what is kept was damaged.
    public static func edits(
        in body: UnsafeRawBufferPointer, id: UniqueID, section: Section
    ) throws(Problem) -> [Edit] {
        guard case .object(let object) = try JSONReader.read(body) else {
            throw Problem(.internalError, "What is kept of \(id) is not an object.")
        }
        let change = PushReader.change(object, id: id, in: section, at: "")
        // Registers that were never set have their default and no clock; anything else that is refused is damage.
        for problem in change.refused.values where problem.slug != .clockMissing {
            throw Problem(.internalError, "What is kept of \(id) is damaged: \(problem.detail)")
        }
        return change.edits
    }
}
