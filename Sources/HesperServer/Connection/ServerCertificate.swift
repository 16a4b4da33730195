import Logging
import NIOConcurrencyHelpers
import NIOSSL

/// The certificate for new connections. It is read again when its files change; open connections are not affected.
final class ServerCertificate: Sendable {
    private let files: TLSFiles
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    private struct State {
        var context: NIOSSLContext
        /// The contents that were loaded last, successfully or not.
        var tried: TLSFiles.Contents
        /// The contents at the last check.
        var seen: TLSFiles.Contents
    }

    /// The interval between checks of the files. A renewed certificate is in use after two checks.
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

    /// Loads the files if they have changed and are the same as at the last check. The two files cannot be replaced atomically,
    /// so a certificate that was just written may not match its key yet.
    func reload() {
        // A missing file is probably being replaced.
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
