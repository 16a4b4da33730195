import HesperModel

/// A reason why no attachments are removed.
public enum RemovalBlocker: Error, Sendable, Equatable {
    /// There is no marker, and this database has never written one.
    case unmarked
    /// There is no marker, although this database has written one.
    case missing
    /// There is no marker, and the blob store contains attachments although the database is empty.
    case lostDatabase
    /// The marker contains the ID of this installation, but a nonce that this database did not write.
    case otherNonce
    /// The marker is contested: a server has found a nonce in it that the server's database did not write.
    case contested
    /// The marker contains the ID of another installation. The associated value is this ID.
    case otherInstallation(NodeID)
    /// The marker cannot be parsed.
    case damaged
    /// Too many blobs have no row in this database (``BlobStoreRecord/hasTooManyUnknown``). This is the case if no blob has a row.
    /// It is also the case if more than 100 blobs have no row, and these are more than a tenth of all blobs.
    case tooManyUnknown(BlobWalk)

    /// Whether a database other than this one may have written the marker.
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

    /// Whether the reason is the state of the marker. False if the reason is the number of blobs without a row.
    public var isOfMarker: Bool {
        if case .tooManyUnknown = self { false } else { true }
    }

    /// Whether this reason is a different enum case than `blocker`. The associated values are not compared.
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
    /// A description of the problem and its remedy for the operator.
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
            The marker of the attachments was written by another copy of this database, or by this database before an older \
            copy of it was restored. \(RemovalBlocker.remedyForCopies)
            """
        case .contested:
            """
            Two copies of the database have used the attachments, or an old copy was restored. \
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
            unknown to the database, which may be older than these files. Restore a newer database, or run hesper \
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
        correct it. To assign the attachments to this database, run hesper adopt-attachments.
        """
}
