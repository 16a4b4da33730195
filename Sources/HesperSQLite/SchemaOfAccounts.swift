/// What the sixth version added to accounts.
enum SchemaOfAccounts {
    static let emailVerificationDate = """
        -- When somebody used a link that was sent to the address; links to a new password go to no other.
        ALTER TABLE accounts ADD COLUMN email_verification_date INTEGER;
        """
}
