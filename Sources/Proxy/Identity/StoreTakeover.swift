/// The operator's word that a user of the present backend gets a store that began under another backend:
/// `serve --rebind --identity STORE=USER`.
package struct StoreTakeover: Sendable, Hashable {
    /// The key of the store, as `understudy identities` shows it.
    package let store: String
    /// The user's id at the present backend, or the key of the identity that the user already has here.
    package let user: String

    /// Reads `STORE=USER`; nil if a text is not of this form, or names the store twice.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        store = String(text[..<sign])
        user = String(text[text.index(after: sign)...])
        let names = [store, user]
        guard Identity.isKey(store), !user.isEmpty, store != user,
            !names.contains(Identity.anonymousKey)
        else { return nil }
    }
}
