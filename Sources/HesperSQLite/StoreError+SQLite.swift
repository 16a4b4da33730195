import GRDB
import GRDBSQLite
import HesperStore

/// `SQLITE_IOERR_SHMSIZE`, an expression in C: the index of the write-ahead log could not grow.
private let noRoomForLogIndex = SQLITE_IOERR | 19 << 8

extension StoreError {
    /// What went wrong last on a connection.
    init(lastOf connection: SQLiteConnection?) {
        let code = sqlite3_extended_errcode(connection)
        self.init(code: code, message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "")
    }

    /// Sorts SQLite's codes into what may pass (a full disk, a failing one, somebody else's lock) and what is a mistake.
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

/// Does what may fail in GRDB, and names what fails in the store's own words; all other errors pass.
func namingErrors<T>(_ body: () throws -> T) throws -> T {
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
