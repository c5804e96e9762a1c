import HTTPMessage
import HTTPTypes
import Platform
import SyncCore
import TablesProtocol

/// Finds the tenant of a request whose token has to be verified first, or whose store is closed, while the
/// connection is suspended.
struct CallerIdentification: Sendable {
    let tenants: TenantRegistry
    let verifier: TokenVerifier
    let passThrough: PassThrough
    let refusedWrites: RefusedWrites
    let now: @Sendable () -> Instant

    /// Whose request it is.
    enum Caller: Sendable {
        /// The tenant of the caller; the answer says how the token was confirmed, where that was not just now.
        case tenant(Tenant, TenantRegistry.TokenConfirmation?)
        case refused(Response)
        /// The table needs no token, so the backend answers, and nothing of the request is stored.
        case unproven
    }

    /// Verifies an unknown token with the backend.
    ///
    /// 1. The token belongs to a user: the request is answered in the user's tenant, which may be new.
    /// 2. The token is refused, or the backend cannot be reached: 401. Nothing is stored for an identity
    ///    that the backend has not confirmed.
    /// 3. The backend gives the table without a token: the request is passed through, and nothing of it is
    ///    stored. If client and backend have different generations, the answer is 401 with a request to
    ///    sign in.
    func identify(_ token: Token, _ call: TableCall, followsChanges: Bool) async -> Caller {
        guard await passThrough.acquirePermit(from: passThrough.signInPermits) else {
            return .refused(TablesAnswer(to: call).render(error: PassThrough.tooManyWait))
        }
        let generation = tenants.backendGeneration
        let verdict = await verdict(token, call)
        passThrough.signInPermits.release()
        switch verdict {
        case .refused: return .refused(Self.unauthorized(call))
        case .unreachable:
            tenants.anonymous.engine.nudge(.unreachable)
            return .refused(Self.unauthorized(call))
        case .unproven
        where followsChanges || generation != nil && generation != call.generation:
            let sentence =
                "It is not known here whose token this is: sign in at this address first."
            return .refused(TablesAnswer(to: call).render(error: .unauthorized(sentence)))
        case .unproven: return .unproven
        case .good:
            do throws(StartProblem) {
                return .tenant(try await tenants.verified(token), nil)
            } catch {
                return unavailable(error, call)
            }
        }
    }

    /// Verifies a known token with the backend again: the token has expired, or its last confirmation is too old.
    ///
    /// 1. If the backend cannot be reached, the token is valid until the end of `--offline-grace`. The answer
    ///    reports that.
    /// 2. Otherwise a token that is refused or has expired is removed.
    func recheck(
        _ token: Token, _ identity: String, until: Instant, _ call: TableCall
    ) async -> Caller {
        guard passThrough.permits.take() else {
            return .refused(TablesAnswer(to: call).render(error: PassThrough.tooManyWait))
        }
        let verdict = await verdict(token, call)
        passThrough.permits.release()
        let isExpired = TokenStanding.isExpired(token.expiresAt, at: now())
        var confirmation = TenantRegistry.TokenConfirmation()
        switch verdict {
        case .unreachable where now() <= until:
            tenants.anonymous.engine.nudge(.unreachable)
            confirmation.unconfirmed = until
        case .unreachable: return .refused(Self.unauthorized(call))
        case .good where !isExpired: await tenants.confirmed(token)
        case .unproven where !isExpired: break
        case .refused, .good, .unproven:
            await tenants.refused(token)
            return .refused(Self.unauthorized(call))
        }
        return await open(identity, token, confirmation, call)
    }

    /// Opens the store of an identity. If it cannot be opened, for example since too many are in use, the answer
    /// is 503.
    func open(
        _ identity: String, _ token: Token, _ confirmation: TenantRegistry.TokenConfirmation,
        _ call: TableCall
    ) async -> Caller {
        do throws(StartProblem) {
            let tenant = try await tenants.open(identity)
            tenant.signedIn(token, isFresh: false)
            if let check = confirmation.check { recheckInBackground(check, call) }
            return .tenant(tenant, confirmation)
        } catch {
            return unavailable(error, call)
        }
    }

    private func unavailable(_ problem: StartProblem, _ call: TableCall) -> Caller {
        let response = TablesAnswer(to: call).render(
            error: .unavailable("\(problem)", retryAfterSeconds: Limits.retryAfterSeconds))
        if call.verb.isWrite {
            refusedWrites.note(.unopened, status: response.head.status.code)
        }
        return .refused(response)
    }

    /// Verifies a known token again in the background. A refused token is removed.
    func recheckInBackground(_ token: Token, _ call: TableCall) {
        guard tenants.shouldRecheck(token), passThrough.permits.take() else { return }
        passThrough.work.start {
            let verdict = await verdict(token, call)
            passThrough.permits.release()
            switch verdict {
            case .good: await tenants.confirmed(token)
            case .refused: await tenants.refused(token)
            case .unproven, .unreachable: break
            }
        }
    }

    private func verdict(_ token: Token, _ call: TableCall) async -> TokenVerifier.Verdict {
        await verifier.verdict(
            token, call.table, client: call.generation, backend: tenants.backendGeneration)
    }

    /// The answer to a request with a valid token. It reports if the backend cannot confirm the token.
    func withConfirmation(
        _ response: Response, _ token: Token, _ confirmation: TenantRegistry.TokenConfirmation
    ) -> Response {
        guard let until = confirmation.unconfirmed ?? tenants.unconfirmed(token) else {
            return response
        }
        return response.adding([OwnHeader.token.name: "unconfirmed; until=\(until.text)"])
    }

    static func unauthorized(_ call: TableCall) -> Response {
        TablesAnswer(to: call).render(error: .unauthorized())
    }
}
