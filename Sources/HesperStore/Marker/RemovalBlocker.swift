import HesperModel

/// Why no bytes of attachments are removed.
public enum RemovalBlocker: Error, Sendable, Equatable {
    /// There is no marker, and this database never wrote one.
    case unmarked
    /// There is no marker, though this database wrote one.
    case missing
    /// There is no marker, and there are bytes, but the database is empty.
    case lostDatabase
    /// The marker is of this installation, and this database did not write its nonce.
    case otherNonce
    /// A server found a nonce that its database did not write.
    case contested
    /// The marker is of another installation.
    case otherInstallation(NodeID)
    /// What is in the marker's place is no marker.
    case damaged
    /// More than a tenth of the blobs are unknown to this database, or all of them.
    case tooManyUnknown(BlobWalk)

    /// Whether another database may have written the marker.
    var isOfAnotherDatabase: Bool {
        switch self {
        case .otherNonce, .otherInstallation: true
        case .unmarked, .missing, .lostDatabase, .contested, .damaged, .tooManyUnknown: false
        }
    }

    /// Whether the bytes and the database do not belong together, so that nothing should be served of them.
    public var forbidsServing: Bool {
        switch self {
        case .lostDatabase, .otherInstallation: true
        case .unmarked, .missing, .otherNonce, .contested, .damaged, .tooManyUnknown: false
        }
    }

    /// Whether it is about the marker, not about what is beside it.
    public var isOfMarker: Bool {
        if case .tooManyUnknown = self { false } else { true }
    }

    /// Whether this is another reason, whatever the details.
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
    /// What is wrong and what to do, for an operator.
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
            "There are attachments, but the database is empty. \(RemovalBlocker.mend)"
        case .otherNonce:
            """
            The marker of the attachments was written by another copy of this database, or by this database at a time \
            that it no longer knows of. \(RemovalBlocker.decide)
            """
        case .contested:
            "Two copies of the database have used the attachments, or an old one was restored. \(RemovalBlocker.decide)"
        case .otherInstallation(let installation):
            "The attachments belong to another installation, \(installation). \(RemovalBlocker.mend)"
        case .damaged:
            """
            The marker of the attachments, \(BlobMarker.path), cannot be read: it is damaged, or a later version wrote it. \
            If the attachments belong to this database, run hesper adopt-attachments.
            """
        case .tooManyUnknown(let walk):
            """
            \(walk.unknownFiles) of \(walk.files) files of attachments (\(walk.unknownBytes) of \(walk.bytes) bytes) are \
            unknown to the database: it may be older than they are. Restore a newer database, or run hesper \
            adopt-attachments to accept that they are removed after 30 days.
            """
        }
    }

    private static let decide = """
        Stop the servers on all other copies, then run hesper adopt-attachments with the database that the attachments \
        belong to.
        """
    private static let mend = """
        If the database was lost, restore it. If HESPER_ATTACHMENTS, HESPER_DATA or HESPER_DATABASE names the wrong place, \
        correct it. To give the attachments to this database, run hesper adopt-attachments.
        """
}
