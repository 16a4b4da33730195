import GRDB
import GRDBSQLite
import HesperStore

/// The value of the macro `SQLITE_IOERR_SHMSIZE`, which Swift does not import. SQLite reports it if the index of the
/// write-ahead log could not grow.
private let noRoomForLogIndex = SQLITE_IOERR | 19 << 8

extension StoreError {
    /// Creates an error from the most recent error of a connection.
    init(lastOf connection: SQLiteConnection?) {
        let code = sqlite3_extended_errcode(connection)
        self.init(code: code, message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "")
    }

    /// Maps a result code of SQLite to a store error: `full` or `unavailable` for temporary conditions, such as a full disk or
    /// a lock of another process, `damaged` for a damaged file, and `failed` for all others, which are bugs.
    init(code: Int32, message: String) {
        let text = "SQLite \(code): \(message)"
        switch code & 0xff {
        case SQLITE_IOERR where code == noRoomForLogIndex: self = .full(text)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_NOMEM, SQLITE_READONLY, SQLITE_INTERRUPT, SQLITE_IOERR,
            SQLITE_CANTOPEN, SQLITE_PROTOCOL, SQLITE_PERM, SQLITE_NOLFS:
            self = .unavailable(text)
        case SQLITE_FULL: self = .full(text)
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self = .damaged(text)
        default: self = .failed(text)
        }
    }
}

/// Runs `body` and converts a `DatabaseError` of GRDB to a ``StoreError``; other errors pass unchanged.
func mappingErrors<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw StoreError(error)
    }
}

extension StoreError {
    init(_ error: DatabaseError) {
        self.init(code: error.extendedResultCode.rawValue, message: error.message ?? "")
    }
}
