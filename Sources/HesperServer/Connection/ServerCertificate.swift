import Logging
import NIOConcurrencyHelpers
import NIOSSL

/// The TLS certificate for new connections. It is read again when its files change; open connections are not affected.
final class ServerCertificate: Sendable {
    private let files: TLSFiles
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    private struct State {
        var context: NIOSSLContext
        /// The contents of the files at the most recent attempt to load them, successful or not.
        var tried: TLSFiles.Contents
        /// The contents of the files at the most recent check.
        var seen: TLSFiles.Contents
    }

    /// The interval between checks of the files. A new certificate is used after two checks in a row have read the same contents.
    static let interval = Duration.seconds(5)

    /// - Throws: an error if the files cannot be read or are invalid.
    init(_ files: TLSFiles, logger: Logger) throws {
        self.files = files
        self.logger = logger
        let contents = try files.contents()
        state = NIOLockedValueBox(State(context: try contents.context(), tried: contents, seen: contents))
    }

    var context: NIOSSLContext { state.withLockedValue { $0.context } }

    /// Checks the files while the server runs.
    var loop: BackgroundLoop {
        BackgroundLoop("Reading the certificate", every: ServerCertificate.interval, logger: logger) { self.reload() }
    }

    /// Loads the files if they have changed since the most recent attempt to load them, and have not changed since the previous
    /// check. The second condition is needed because the two files cannot be replaced at the same moment: when the certificate is
    /// new, the key may still be the old one.
    func reload() {
        // If a file cannot be read, it is probably being replaced. The next check tries again.
        guard let found = try? files.contents() else { return }
        state.withLockedValue { state in
            defer { state.seen = found }
            guard found == state.seen, found != state.tried else { return }
            state.tried = found
            do {
                state.context = try found.context()
                logger.notice("TLS certificate reloaded")
            } catch {
                logger.error(
                    "The new TLS certificate is invalid; the previous one remains in use",
                    metadata: ["error": "\(error)"])
            }
        }
    }
}
