import Logging
import NIOConcurrencyHelpers
import NIOSSL

/// The certificate that new connections are shown: read again when its files change. Connections that are open stay.
final class ServerCertificate: Sendable {
    private let files: TLSFiles
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    private struct State {
        var context: NIOSSLContext
        /// What was tried last, whether it was any good or not.
        var tried: TLSFiles.Contents
        /// What the last look found.
        var seen: TLSFiles.Contents
    }

    /// Between two looks at the files. What is renewed is in use after two.
    static let pause = Duration.seconds(5)

    /// - Throws: what is wrong with the files.
    init(_ files: TLSFiles, logger: Logger) throws {
        self.files = files
        self.logger = logger
        let contents = try files.contents()
        state = NIOLockedValueBox(State(context: try contents.context(), tried: contents, seen: contents))
    }

    var context: NIOSSLContext { state.withLockedValue { $0.context } }

    /// Reads the files again while the server runs.
    var loop: BackgroundLoop {
        BackgroundLoop("Reading the certificate", every: ServerCertificate.pause, logger: logger) { self.look() }
    }

    /// Takes what is in the files if that is new, the same as at the last look, and good. Two files cannot be replaced at
    /// once: what still changes may be a certificate without its key.
    func look() {
        // A file that is away for the moment comes back with its next version.
        guard let found = try? files.contents() else { return }
        state.withLockedValue { state in
            defer { state.seen = found }
            guard found == state.seen, found != state.tried else { return }
            state.tried = found
            do {
                state.context = try found.context()
                logger.notice("The certificate's files changed: new connections get what is in them now.")
            } catch {
                logger.error("The certificate's files changed and are no good; the last ones stay: \(error)")
            }
        }
    }
}
