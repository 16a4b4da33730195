/// Columns that version 5 added to accounts.
enum SchemaOfAccounts {
    static let emailVerificationDate = """
        -- When a link sent to the address was last used. Password reset links are sent only to verified addresses.
        ALTER TABLE accounts ADD COLUMN email_verification_date timestamptz;
        """
}
