import HesperStore
import Logging

/// The resources for accounts, devices and access tokens. They share the limits on sign-in attempts and on concurrent password
/// hashes.
struct AccountResources: Resource {
    let firstAccount = FirstAccount()
    private let resources: [any Resource]

    init(
        backend: Backend, settings: ServerSettings, cookies: SessionCookies, hasWebApp: Bool, mailer: Mailer?,
        logger: Logger
    ) {
        let store = backend.store
        let passwords = Passwords(limits: settings.passwords) {
            try await store.read { try $0.accounts().map(\.passwordHash) }
        }
        let gate = SignInGate(limits: settings.signIns, logger: logger)
        let emails = EmailGate(mailer: mailer, limits: settings.mailLimits)
        let signUp = SignUp(
            store: store, settings: settings, passwords: passwords, gate: gate, firstAccount: firstAccount,
            emails: emails)
        let resets = PasswordResets(store: store, hub: backend.hub, passwords: passwords, gate: gate)
        let confirmation = PasswordConfirmation(gate: gate, passwords: passwords)
        resources = [
            Accounts(
                store: store, hub: backend.hub, signUp: signUp, confirmation: confirmation, quota: settings.quota,
                cookies: cookies),
            Tokens(backend: backend, confirmation: confirmation),
            Devices(
                store: store, hub: backend.hub, passwords: passwords, gate: gate, quota: settings.quota,
                cookies: cookies),
            resets, PasswordResetPage(resets: resets, hasWebApp: hasWebApp),
            InvitationLink(signUp: signUp, hasWebApp: hasWebApp),
            ForgottenPasswords(emails: emails, hasWebApp: hasWebApp),
            EmailVerifications(store: store, gate: gate, emails: emails, hasWebApp: hasWebApp),
        ]
    }

    func add(to routes: inout Routes) {
        for resource in resources { resource.add(to: &routes) }
    }
}
