import Testing

@testable import hesper

/// Returns the message of a settings error thrown by `body`.
func settingsError(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let failure as Failure {
        #expect(failure.kind == .settings)
        return failure.message
    } catch {
        return "another error: \(error)"
    }
}
