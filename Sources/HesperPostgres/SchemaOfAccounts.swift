/// The column that version 5 added to the table of accounts.
enum SchemaOfAccounts {
    static let emailVerificationDate = """
        -- The date on which a link that was sent to the account's e-mail address was most recently used; NULL if the address is
        -- not verified. Links to reset a password are sent only to verified addresses.
        ALTER TABLE accounts ADD COLUMN email_verification_date timestamptz;
        """
}
