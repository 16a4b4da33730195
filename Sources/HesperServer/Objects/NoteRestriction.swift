import HesperModel
import HesperStore

/// The restrictions of an access token that depend on the note or on the fields of the request (protocol.md, Access tokens). At
/// this point, the token is already known to have the scope that the route requires.
///
/// A token that is restricted to a tag can use only notes that have this tag. It cannot change the tags and attachments of these
/// notes. A token without the scope `write` cannot add attachments: an attachment belongs to only one note, so adding it to a note
/// could remove it from another note.
struct NoteRestriction: Sendable {
    private let access: TokenAccess

    /// Nil if the request was not sent with an access token.
    init?(_ session: Session) {
        guard let access = session.device.access else { return nil }
        self.access = access
    }

    /// Whether responses may contain the note. Otherwise they contain only its ID.
    var canRead: Bool { access.allows(.read) }

    /// The tag to which the token is restricted; nil if it can use all notes.
    /// - Throws: `insufficient-scope` if the tag was deleted.
    func tag(in resolver: Resolver) throws -> UniqueID? {
        guard let tag = access.tag else { return nil }
        guard let target = try resolver.live(tag) else {
            throw Problem(
                .insufficientScope, "The tag to which this access token is restricted was deleted. Create a new token.")
        }
        return target
    }

    /// Checks that the token can use the note with this ID. If it cannot, the error is the same as for an ID that does not exist.
    /// - Parameter state: the stored state of the object with this ID; nil if there is no such object.
    /// - Returns: the tag to which the token is restricted; nil if it can use all notes.
    /// - Throws: `not-found`; `insufficient-scope` if the tag was deleted.
    @discardableResult
    func check(_ state: ObjectState?, _ id: UniqueID, in resolver: Resolver) throws -> UniqueID? {
        guard let target = try tag(in: resolver) else { return nil }
        guard let state else { return target }
        guard case .entity(.note(let note), _) = state, try resolver.members(of: note).tags.contains(target) else {
            throw Problem.notFound(id)
        }
        return target
    }

    /// Checks the fields of a write. If the token is restricted to a tag, sets the tags and attachments to those that the note
    /// already has, so that the write does not change them.
    /// - Parameter state: the stored state of the note; nil if the write creates it.
    /// - Throws: `not-found`, `insufficient-scope`.
    func apply(to fields: inout PlainFields, _ state: ObjectState?, _ id: UniqueID, in resolver: Resolver) throws {
        let tag = try check(state, id, in: resolver)
        guard let tag else {
            guard access.allows(.write) || (fields.attachments ?? []).isEmpty else {
                throw NoteRestriction.refused("attachments", "needs an access token with the scope \"write\"")
            }
            return
        }
        var current = (tags: [tag], attachments: [UniqueID]())
        if case .entity(.note(let note), _)? = state { current = try resolver.members(of: note) }
        if let tags = fields.tags {
            let wanted = Set(try tags.map { try resolver.live($0) ?? $0 })
            // A new note gets the token's tag even if the request does not contain this tag.
            guard wanted == Set(current.tags) || state == nil && wanted.isEmpty else {
                throw NoteRestriction.refused("tags", "cannot be changed with a token that is restricted to a tag")
            }
        }
        guard (fields.tagNames ?? []).isEmpty else {
            throw NoteRestriction.refused("tagNames", "cannot be used with a token that is restricted to a tag")
        }
        if let attachments = fields.attachments, Set(attachments) != Set(current.attachments) {
            throw NoteRestriction.refused("attachments", "cannot be changed with a token that is restricted to a tag")
        }
        (fields.tags, fields.attachments, fields.tagNames) = (current.tags, current.attachments, nil)
    }

    private static func refused(_ field: String, _ reason: String) -> Problem {
        Problem(.insufficientScope, "\(field) \(reason).", at: "/\(field)")
    }
}
