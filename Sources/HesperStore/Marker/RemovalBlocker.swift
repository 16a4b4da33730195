import HesperModel

/// A reason why no attachments are removed.
public enum RemovalBlocker: Error, Sendable, Equatable {
    /// There is no marker, and this database has never written one.
    case unmarked
    /// There is no marker, although this database has written one.
    case missing
    /// There is no marker, and there are attachments although the database is empty.
    case lostDatabase
    /// The marker is of this installation, but this database did not write its nonce.
    case otherNonce
    /// A server found a nonce that its database did not write.
    case contested
    /// The marker is of another installation.
    case otherInstallation(NodeID)
    /// The marker cannot be parsed.
    case damaged
    /// All blobs, or more than a tenth of them, are unknown to this database.
    case tooManyUnknown(BlobWalk)

    /// Whether another database may have written the marker.
    var isOfAnotherDatabase: Bool {
        switch self {
        case .otherNonce, .otherInstallation: true
        case .unmarked, .missing, .lostDatabase, .contested, .damaged, .tooManyUnknown: false
        }
    }

    /// Whether the attachments belong to another database, so that the server must not start.
    public var forbidsServing: Bool {
        switch self {
        case .lostDatabase, .otherInstallation: true
        case .unmarked, .missing, .otherNonce, .contested, .damaged, .tooManyUnknown: false
        }
    }

    /// Whether the reason is the marker, not the blobs.
    public var isOfMarker: Bool {
        if case .tooManyUnknown = self { false } else { true }
    }

    /// Whether this is a different reason, apart from its details.
    func isOther(than blocker: RemovalBlocker?) -> Bool {
        switch (self, blocker) {
        case (.unmarked, .unmarked?), (.missing, .missing?), (.lostDatabase, .lostDatabase?),
            (.otherNonce, .otherNonce?), (.contested, .contested?), (.otherInstallation, .otherInstallation?),
            (.damaged, .damaged?), (.tooManyUnknown, .tooManyUnknown?):
            false
        default: true
        }
    }
}

extension RemovalBlocker: CustomStringConvertible {
    /// The problem and the remedy, for an operator.
    public var description: String {
        switch self {
        case .unmarked:
            "The attachments have no marker yet; hesper serve writes one."
        case .missing:
            """
            The marker of the attachments, \(BlobMarker.path), is missing. Check that HESPER_ATTACHMENTS names the right \
            place and that its disk is mounted. If it is the right place, run hesper adopt-attachments.
            """
        case .lostDatabase:
            "There are attachments, but the database is empty. \(RemovalBlocker.remedy)"
        case .otherNonce:
            """
            The marker of the attachments was written by another copy of this database, or by a later state of this \
            database. \(RemovalBlocker.remedyForCopies)
            """
        case .contested:
            """
            Two copies of the database have used the attachments, or an old one was restored. \
            \(RemovalBlocker.remedyForCopies)
            """
        case .otherInstallation(let installation):
            "The attachments belong to another installation, \(installation). \(RemovalBlocker.remedy)"
        case .damaged:
            """
            The marker of the attachments, \(BlobMarker.path), cannot be read: it is damaged, or a later version wrote it. \
            If the attachments belong to this database, run hesper adopt-attachments.
            """
        case .tooManyUnknown(let walk):
            """
            \(walk.unknownFiles) of \(walk.files) files of attachments (\(walk.unknownBytes) of \(walk.bytes) bytes) are \
            unknown to the database, which may be older than they are. Restore a newer database, or run hesper \
            adopt-attachments to accept that the files are removed after 30 days.
            """
        }
    }

    private static let remedyForCopies = """
        Stop the servers on all other copies, then run hesper adopt-attachments with the database that the attachments \
        belong to.
        """
    private static let remedy = """
        If the database was lost, restore it. If HESPER_ATTACHMENTS, HESPER_DATA or HESPER_DATABASE names the wrong place, \
        correct it. To give the attachments to this database, run hesper adopt-attachments.
        """
}
