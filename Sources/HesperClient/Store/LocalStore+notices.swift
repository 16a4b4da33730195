public import Foundation
internal import HesperModel

/// A change that sync made to a text and that the user should know of.
public struct SyncNotice: Identifiable, Sendable, Equatable {
    public enum Kind: Sendable {
        /// Two devices replaced the same words. The text contains one version of them; the other version is in ``SyncNotice/texts``.
        case merged
        /// The object was deleted on another device. The texts that this device had not sent are now in the object
        /// ``SyncNotice/continuation``.
        case rescued
        /// The object was deleted on this device, which had not received all of its texts. The missing texts are now in the
        /// object ``SyncNotice/continuation``.
        case unseen
    }

    /// The serial number of the notice in this store.
    public let id: Int64
    public let kind: Kind
    public let objectType: String
    public let objectID: UUID
    /// The name of the text that was merged. It is `text` for a note, and `texts.method` for the property `method` of an app's
    /// object. Nil for other kinds of notices.
    public let attribute: String?
    /// The object that now contains the texts, which has the same type; nil for ``Kind/merged``.
    public let continuation: UUID?
    /// For ``Kind/merged``, the words that the merge did not keep. For ``Kind/rescued``, the texts, if a new object was created for
    /// them.
    public let texts: [String]
    public let date: Date
}

/// A change that the server rejected. It is kept until the app dismisses it.
public struct RejectedChange: Identifiable, Sendable, Equatable {
    /// The serial number of the rejected change in this store.
    public let id: Int64
    public let objectType: String
    public let objectID: UUID
    /// The name of the rejected attribute, such as `attributes.title`. Nil if the object as a whole or its deletion was rejected.
    public let attribute: String?
    /// The rejected value, as text.
    public let value: String?
    public let isDeletion: Bool
    /// The server's error code, such as `invalid-field`.
    public let code: String
    /// The server's explanation of why the change was rejected.
    public let message: String
    public let date: Date
}

extension LocalStore {
    /// The notices of this store, now and whenever one is added or removed.
    public var notices: Snapshots<[SyncNotice]> { snapshots { try $0.records.notices().map(SyncNotice.init) } }

    /// Removes a notice, for example when the user has seen it.
    public func dismiss(_ notice: SyncNotice) async throws {
        try await database.performWrite { try $0.removeNotice(notice.id) }
    }

    /// The changes that the server rejected, now and whenever one is added or removed.
    public var shelf: Snapshots<[RejectedChange]> { snapshots { try $0.records.shelf().map(RejectedChange.init) } }

    /// Removes a rejected change, for example when the user has seen it.
    public func dismiss(_ change: RejectedChange) async throws {
        try await database.performWrite { try $0.removeFromShelf(change.id) }
    }
}

extension ReadTransaction {
    /// The object in which the texts of a deleted object were kept; nil if they were not kept, or if the object that contains them
    /// is deleted too. The returned object may not have arrived on this device yet.
    package func continuation<Object: SyncedObject>(of id: ObjectID<Object>) throws -> ObjectID<Object>? {
        try reader.records.continuation(of: id.uniqueID).map { ObjectID($0) }
    }
}

extension SyncNotice {
    fileprivate init(_ notice: Notice) {
        kind =
            switch notice.kind {
            case .merged: .merged
            case .rescued: .rescued
            case .unseen: .unseen
            }
        id = notice.number
        objectType = notice.type
        objectID = notice.id.uuid
        attribute = notice.attribute
        continuation = notice.into?.uuid
        texts = notice.texts
        date = Date(notice.moment)
    }
}

extension RejectedChange {
    fileprivate init(_ change: ShelvedChange) {
        id = change.number
        objectType = change.type
        objectID = change.id.uuid
        attribute = change.attribute
        isDeletion = change.isDeletion
        code = change.slug
        message = change.detail
        date = Date(change.moment)
        value =
            switch change.value {
            case nil, .null: nil
            case .bool(let flag): String(flag)
            case .integer(let number): String(number)
            case .number(let number): String(number)
            case .string(let text): text
            case .date(let date): date.description
            }
    }
}

extension UniqueID {
    fileprivate var uuid: UUID { ObjectID<Note>(self).uuid }
}

extension Date {
    init(_ timestamp: Timestamp) { self.init(timeIntervalSince1970: Double(timestamp.milliseconds) / 1_000) }
}
