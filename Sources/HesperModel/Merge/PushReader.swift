/// Reads the member `changes` of a sync request.
///
/// The push as a whole is refused if its top-level structure is invalid or if it has too many elements. An error within an
/// element rejects only that element or one of its fields.
public enum PushReader {
    /// Reads and validates a push.
    /// - Parameters:
    ///   - json: the value of `changes`.
    ///   - pointer: the JSON Pointer of `changes` in the request.
    /// - Throws: ``Problem`` `invalid-field`, `unknown-field` or `too-large`, if the push as a whole is refused.
    public static func read(_ json: JSON, at pointer: String = "/changes") throws(Problem) -> Push {
        guard case .object(let object) = json else {
            throw Problem(.invalidField, "changes must be an object, not \(json.kind).", at: pointer)
        }
        var push = Push()
        for member in object.members {
            let path = "\(pointer)/\(JSONPointer.escape(member.name))"
            let section = Section.allCases.first { $0.name == member.name }
            guard section != nil || member.name == "deletedObjects" else {
                throw Problem(
                    .unknownField,
                    "\(member.name.prefix(64)) is not a member of changes. "
                        + "The members are notes, tags, attachments, objects and deletedObjects.",
                    at: path)
            }
            guard case .array(let elements) = member.value else {
                throw Problem(.invalidField, "\(member.name) must be an array, not \(member.value.kind).", at: path)
            }
            guard push.elements.count + elements.count <= Limits.pushObjects else {
                throw Problem(
                    .tooLarge, "A push must have at most \(Limits.pushObjects) elements. Split it into several pushes.",
                    at: path,
                    context: ["limit": .integer(Int64(Limits.pushObjects))])
            }
            for (index, element) in elements.enumerated() {
                push.elements.append(
                    section.map { change(element, in: $0, at: "\(path)/\(index)") }
                        ?? deletion(element, at: "\(path)/\(index)"))
            }
        }
        return push
    }

    /// Reads an object or a DeletedObject in the form in which sync sends it. The caller can push the result, which has the
    /// original clocks.
    /// - Parameters:
    ///   - section: the section of the object; nil for a DeletedObject.
    ///   - pointer: the JSON Pointer of the object.
    public static func state(_ json: JSON, in section: Section?, at pointer: String) -> Push.Element {
        guard let section else { return deletion(json, at: pointer) }
        guard case .change(var change) = change(json, in: section, at: pointer) else {
            return change(json, in: section, at: pointer)
        }
        // A register that was never set has its default value and no clock. This is an error in a push, but not here.
        change.rejected = change.rejected.filter { $0.value.slug != .clockMissing }
        return .change(change)
    }

    /// The JSON object and the ID of an element, or the reason why the element is rejected.
    private static func identify(
        _ json: JSON, type: String?, at pointer: String
    ) -> Result<(JSONObject, UniqueID), Rejection> {
        guard case .object(let object) = json else {
            return .failure(
                Rejection(
                    type: type,
                    problem: Problem(.invalidField, "The element must be an object, not \(json.kind).", at: pointer)))
        }
        guard case .string(let text)? = object["uniqueID"], let id = UniqueID(text) else {
            return .failure(
                Rejection(
                    type: type, problem: Problem(.invalidField, "uniqueID must be a UUID.", at: "\(pointer)/uniqueID")))
        }
        return .success((object, id))
    }

    private struct Rejection: Error {
        var id: UniqueID?
        let type: String?
        let problem: Problem

        func element(at pointer: String) -> Push.Element {
            .rejected(Receipt(uniqueID: id, objectType: type, pointer: pointer, status: .rejected, problem: problem))
        }
    }

    private static func change(_ json: JSON, in section: Section, at pointer: String) -> Push.Element {
        switch identify(json, type: section.objectType?.name, at: pointer) {
        case .failure(let rejection): return rejection.element(at: pointer)
        case .success((let object, let id)):
            return .change(change(object, id: id, in: section, at: pointer))
        }
    }

    static func change(_ object: JSONObject, id: UniqueID, in section: Section, at pointer: String) -> Change {
        var reader = ElementReader(object, at: pointer)
        for part in section.parts { reader.read(part) }
        let ancestries: [Attribute: TextAncestry]
        switch section {
        case .notes:
            let ancestry = reader.ancestry()
            ancestries = ancestry == TextAncestry() ? [:] : [.text: ancestry]
        case .objects: ancestries = reader.namedAncestries()
        case .tags, .attachments: ancestries = [:]
        }
        reader.rejectUnknown()
        return Change(
            uniqueID: id, section: section, pointer: pointer, edits: reader.edits, ancestries: ancestries,
            rejected: reader.rejected)
    }

    /// Reads one DeletedObject of a push.
    private static func deletion(_ json: JSON, at pointer: String) -> Push.Element {
        switch identify(json, type: nil, at: pointer) {
        case .failure(let rejection): return rejection.element(at: pointer)
        case .success((let object, let id)):
            do throws(Problem) {
                return .deletion(try deletion(object, id: id, at: pointer))
            } catch {
                var rejection = Rejection(type: nil, problem: error)
                rejection.id = id
                return rejection.element(at: pointer)
            }
        }
    }

    private static func deletion(_ object: JSONObject, id: UniqueID, at pointer: String) throws(Problem) -> Deletion {
        func invalid(_ field: String, _ requirement: String) -> Problem {
            Problem(.invalidField, "\(field) must be \(requirement).", at: "\(pointer)/\(field)")
        }
        guard case .string(let name)? = object["objectType"], let type = ObjectType(name) else {
            throw invalid("objectType", "note, tag, attachment or a type that your app defines")
        }
        var target: UniqueID?
        if let json = object["mergedInto"] {
            guard case .string(let text) = json, let id2 = UniqueID(text), id2 != id, type == .tag else {
                throw invalid("mergedInto", "the ID of another tag. It is allowed only for tags")
            }
            target = id2
        }
        var rescue: UniqueID?
        if let json = object["rescuedInto"] {
            guard case .string(let text) = json, let named = UniqueID(text), named == id.rescue, type.hasTexts else {
                throw invalid("rescuedInto", "\(id.rescue). It is allowed only for notes and objects of apps")
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
        let (seen, after) = try seenTexts(object, of: type, invalid)
        let known = [
            "uniqueID", "objectType", "mergedInto", "rescuedInto", "deletionDate", "textSeen", "textAfter", "textsSeen",
            "textsAfter",
        ]
        for member in object.members where !known.contains(member.name) {
            throw Problem(
                .unknownField, "\(member.name.prefix(64)) is not a field of a DeletedObject.",
                at: "\(pointer)/\(JSONPointer.escape(member.name))")
        }
        return Deletion(
            uniqueID: id, objectType: type, mergedInto: target, rescuedInto: rescue, deletionDate: date,
            seenTexts: seen, textsAfter: after, pointer: pointer)
    }

    /// Reads `textSeen` and `textAfter` of a deleted note, or `textsSeen` and `textsAfter` of a deleted object of an app.
    private static func seenTexts(
        _ object: JSONObject, of type: ObjectType, _ invalid: (_ field: String, _ requirement: String) -> Problem
    ) throws(Problem) -> (seen: [Attribute: Clock]?, after: [Attribute: [Clock]]) {
        func clocks(_ json: JSON, _ field: String) throws(Problem) -> [Clock] {
            guard case .array(let list) = json, list.count <= Limits.textAfter else {
                throw invalid(field, "an array of at most \(Limits.textAfter) clocks")
            }
            var clocks: [Clock] = []
            for (index, element) in list.enumerated() {
                guard case .string(let text) = element, let clock = Clock(text) else {
                    throw invalid("\(field)/\(index)", "a clock")
                }
                clocks.append(clock)
            }
            return clocks
        }
        func members(_ field: String) throws(Problem) -> [(path: String, text: Attribute, json: JSON)] {
            guard let json = object[field] else { return [] }
            guard case .object(let map) = json, type.isAppDefined, map.members.count <= Limits.objectTexts else {
                throw invalid(
                    field,
                    "an object with at most \(Limits.objectTexts) names of texts. It is allowed only for objects of apps"
                )
            }
            return map.members.map { ("\(field)/\(JSONPointer.escape($0.name))", .namedText($0.name), $0.value) }
        }
        var seen: [Attribute: Clock]?
        var after: [Attribute: [Clock]] = [:]
        if let json = object["textSeen"] {
            guard case .string(let text) = json, type == .note else {
                throw invalid(
                    "textSeen",
                    "the clock of the text that was seen, or an empty string if no text was seen. It is allowed only for notes"
                )
            }
            seen = [:]
            if !text.isEmpty {
                guard let clock = Clock(text) else { throw invalid("textSeen", "a clock or an empty string") }
                seen = [.text: clock]
            }
        }
        if let json = object["textAfter"] { after[.text] = try clocks(json, "textAfter") }
        if object["textsSeen"] != nil { seen = [:] }
        for (path, text, json) in try members("textsSeen") {
            guard case .string(let value) = json, let clock = Clock(value) else { throw invalid(path, "a clock") }
            seen?[text] = clock
        }
        for (path, text, json) in try members("textsAfter") { after[text] = try clocks(json, path) }
        return (seen, after)
    }
}

extension Entity {
    /// Reads an object from its stored ``body``.
    /// - Throws: ``Problem`` `internal-error` if the body is damaged.
    public static func read(
        _ body: UnsafeRawBufferPointer, id: UniqueID, section: Section
    ) throws(Problem) -> Entity {
        var entity = section.empty(id)
        for edit in try edits(in: body, id: id, section: section) { entity.fold(edit) }
        return entity
    }

    /// Reads the edits in a stored ``body``. Folding them yields the object.
    /// - Throws: ``Problem`` `internal-error` if the body is damaged.
    public static func edits(
        in body: UnsafeRawBufferPointer, id: UniqueID, section: Section
    ) throws(Problem) -> [Edit] {
        let json: JSON
        do { json = try JSONReader.read(body) } catch {
            // The error is replaced, because the reader's error is for an invalid request, but here the stored data is invalid.
            throw Problem(.internalError, "The stored body of \(id) is damaged: \(error.detail)")
        }
        guard case .object(let object) = json else {
            throw Problem(.internalError, "The stored body of \(id) is damaged: it is not an object.")
        }
        let change = PushReader.change(object, id: id, in: section, at: "")
        // A register that was never set has its default value and no clock. Any other rejected field means that the body is
        // damaged.
        for problem in change.rejected.values where problem.slug != .clockMissing {
            throw Problem(.internalError, "The stored body of \(id) is damaged: \(problem.detail)")
        }
        return change.edits
    }
}
