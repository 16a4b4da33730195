import Foundation

/// How many files and connections the process may have open at once. Shells give few (1,024), and allow more.
enum OpenFiles {
    /// What a server has open besides its connections: the database, attachments on their way, logs.
    private static let others = 512

    /// Asks for as many as so many connections need.
    /// - Returns: how many it got, if they are too few.
    static func raise(for connections: Int) -> Int? {
        var limit = rlimit()
        guard getrlimit(RLIMIT_NOFILE.kind, &limit) == 0 else { return nil }
        let wanted = rlim_t(connections + others)
        guard limit.rlim_cur < wanted else { return nil }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(RLIMIT_NOFILE.kind, &limit)
        return limit.rlim_cur < wanted ? Int(clamping: limit.rlim_cur) : nil
    }
}

#if canImport(Glibc)
    extension __rlimit_resource {
        fileprivate var kind: __rlimit_resource_t { __rlimit_resource_t(rawValue) }
    }
#else
    extension Int32 {
        fileprivate var kind: Int32 { self }
    }
#endif
