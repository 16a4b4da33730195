import Foundation

/// The limit on the number of files and connections that the process may have open. The default is often 1,024. The process itself
/// may raise it.
enum OpenFiles {
    /// The number of files, such as database files, attachments and logs, that a server may open in addition to its connections.
    private static let others = 512

    /// Raises the limit to the number that a server with this many connections needs.
    /// - Returns: the new limit if it is still lower than required; nil otherwise.
    static func raise(for connections: Int) -> Int? {
        var limit = rlimit()
        guard getrlimit(RLIMIT_NOFILE.kind, &limit) == 0 else { return nil }
        let required = rlim_t(connections + others)
        guard limit.rlim_cur < required else { return nil }
        limit.rlim_cur = min(required, limit.rlim_max)
        _ = setrlimit(RLIMIT_NOFILE.kind, &limit)
        return limit.rlim_cur < required ? Int(clamping: limit.rlim_cur) : nil
    }
}

#if canImport(Glibc)
    extension __rlimit_resource {
        var kind: __rlimit_resource_t { __rlimit_resource_t(rawValue) }
    }
#else
    extension Int32 {
        var kind: Int32 { self }
    }
#endif
