package import Foundation
internal import HesperModel

#if canImport(Security)
    internal import Security
#endif

/// Detects that the database file of a store was copied from another device or restored from a backup.
///
/// A random word is stored both in the database file and outside of it, and is replaced each time the file is opened. If the two words
/// differ, the file is a copy. A copy gets a new node, because two devices with the same node would make equal clocks for different
/// edits (merge.md, Clocks). The user must then sign in again.
package enum CopyCheck {
    private static let key = "copyCheck"

    /// Checks a database file that was just opened.
    /// - Returns: whether it is a copy.
    @discardableResult
    package static func run(_ records: RecordsTransaction, _ memory: any DeviceMemory) throws -> Bool {
        let saved = try records.meta(key)
        var store = saved?["store"]?.string ?? records.newID().description
        let word = saved?["word"]?.string
        // Without storage outside of the database file, copies cannot be detected. The server still refuses reused clocks.
        guard let known = try? memory.words(of: store) else { return false }
        let isCopy = word.map { !known.contains($0) } ?? false
        if isCopy {
            store = records.newID().description
            try records.setNode(NodeID(records.newID().high | 1))
            if let session = try records.meta("session") {
                let kept = session.members.filter { $0.name != "token" }
                try records.setMeta("session", .object(JSONObject(members: kept)))
                try records.withSync { $0.signInAgain = .copied }
            }
        }
        let next = records.newID().description
        // The former word is saved too, because the database file still contains it if this transaction is not committed.
        try? memory.setWords([isCopy ? nil : word, next].compactMap { $0 }, of: store)
        try records.setMeta(key, JSON(members: [("store", .string(store)), ("word", .string(next))]))
        return isCopy
    }
}

/// Storage for the random words of ``CopyCheck``. It belongs to this device and is not part of backups.
package protocol DeviceMemory: Sendable {
    /// The random words that were saved for a store; empty if none were saved. If the store's database file contains a word that
    /// is not among them, the file was copied from another device or restored from a backup.
    func words(of store: String) throws -> [String]
    /// Saves random words for a store. They replace the words that were saved for it before.
    func setWords(_ words: [String], of store: String) throws
}

/// Stores the words in a folder for data that belongs to one machine: `$XDG_STATE_HOME/hesper`, by default `~/.local/state/hesper`.
package struct FolderMemory: DeviceMemory {
    private let folder: URL

    package init(folder: URL) { self.folder = folder }

    #if !canImport(Security)
        package init() {
            let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            let home = FileManager.default.homeDirectoryForCurrentUser
            let base = state.map { URL(filePath: $0) } ?? home.appending(path: ".local/state")
            folder = base.appending(path: "hesper")
        }
    #endif

    package func words(of store: String) throws -> [String] {
        do {
            return try String(contentsOf: folder.appending(path: store), encoding: .utf8).split(separator: "\n")
                .map(String.init)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        }
    }

    package func setWords(_ words: [String], of store: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try words.joined(separator: "\n").write(to: folder.appending(path: store), atomically: true, encoding: .utf8)
    }
}

#if canImport(Security)
    /// Stores the words in the Keychain, as items that stay on this device.
    package struct KeychainMemory: DeviceMemory {
        package init() {}

        private func query(_ store: String) -> [CFString: Any] {
            [kSecClass: kSecClassGenericPassword, kSecAttrService: "hesper", kSecAttrAccount: store]
        }

        private struct Failure: Error { let status: OSStatus }

        package func words(of store: String) throws -> [String] {
            var query = query(store)
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return [] }
            guard status == errSecSuccess, let data = found as? Data else { throw Failure(status: status) }
            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }

        package func setWords(_ words: [String], of store: String) throws {
            let data = Data(words.joined(separator: "\n").utf8)
            var status = SecItemUpdate(query(store) as CFDictionary, [kSecValueData: data] as CFDictionary)
            if status == errSecItemNotFound {
                var item = query(store)
                item[kSecValueData] = data
                item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                status = SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }
#endif
