import CPostgres
import Foundation

extension PostgresSettings {
    private static let keepOpenSSL: Void = postgres_disable_openssl_cleanup()

    /// Connects and returns the connection. The caller must check its status. Returns nil if memory is exhausted.
    func connect() -> OpaquePointer? {
        PostgresSettings.keepOpenSSL
        let parameters = parameters
        let keywords = parameters.map { UnsafePointer(strdup($0.keyword)) } + [nil]
        let values = parameters.map { UnsafePointer(strdup($0.value)) } + [nil]
        defer { for pointer in keywords + values { free(UnsafeMutableRawPointer(mutating: pointer)) } }
        return PQconnectdbParams(keywords, values, 1)
    }
}
