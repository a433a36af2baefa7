import { randomUUIDv7 } from 'node:crypto'
import type { JsonObject, Services } from '../../engine/index.ts'
import type { Gateway } from '../../engine/gateway.ts'
import type { MembersTable } from '../../plugins/members/table.ts'
import { auditing, requireDeclared } from './answers.ts'
import { startGateway } from './gateway.ts'
import type { GatewaySettings, RunningGateway } from './gateway.ts'

/** An answer of the admin API, read to its end. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: Headers
  /** `{}` for an answer without a body. */
  readonly body: JsonObject
  /** The code and the place of an error. */
  readonly code?: unknown
  readonly param?: unknown
}

/** Sends a request, such as `PATCH /api/config/server/security`; a body goes as JSON, a text as it is. */
export type Ask = (route: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<AdminAnswer>

/** A member who is signed in. */
export interface SignedIn {
  readonly id: string
  readonly username: string
  readonly token: string
  /** Asks with the token of the member. */
  readonly ask: Ask
}

/** A gateway with an admin and a viewer who are signed in. */
export interface AdminGateway extends RunningGateway {
  readonly admin: SignedIn
  readonly viewer: SignedIn
  readonly asAdmin: Ask
  readonly asViewer: Ask
  /** Asks with an API key that may use every model. */
  readonly asKey: Ask
  /** Asks without credentials. */
  readonly asNobody: Ask
  /** Adds a member, who is signed in at once; default: a viewer with the password `password`. */
  addMember(member?: Partial<MembersTable>): Promise<SignedIn>
}

/** The password of every member whom `addMember` adds, and of the admin. */
export const password = 'a long sentence of ours'

/** Starts a gateway with an admin and a viewer who are signed in. Close it when done. */
export async function startAdmin(settings: GatewaySettings = {}): Promise<AdminGateway> {
  const gateway = await startGateway(settings)
  const made = await askAt(gateway.url)('POST /api/auth/setup', {
    token: viewOf(gateway.engine, 'members').setupToken(),
    username: 'admin',
    password,
  })
  const { token, user } = made.body as { readonly token?: string; readonly user?: { readonly id: string } }
  if (token === undefined || user === undefined) throw new Error(`no admin: ${JSON.stringify(made.body)}`)
  const admin = { id: user.id, username: 'admin', token, ask: askAt(gateway.url, token, gateway.engine) }
  const add = (member: Partial<MembersTable> = {}) => addMember(gateway, member)
  const viewer = await add({ username: 'viewer' })
  return {
    ...gateway,
    admin,
    viewer,
    asAdmin: admin.ask,
    asViewer: viewer.ask,
    asKey: askAt(gateway.url, gateway.key, gateway.engine),
    asNobody: askAt(gateway.url, undefined, gateway.engine),
    addMember: add,
  }
}

/** The text of a new API key that may use these MCP servers. A program is used by its name alone. */
export async function keyFor(admin: Pick<AdminGateway, 'asAdmin'>, ...servers: readonly string[]): Promise<string> {
  const { status, body } = await admin.asAdmin('POST /api/api-keys', {
    name: `for-${servers.join('-')}`,
    mcp_servers: servers,
  })
  if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`)
  return (body as { readonly key: string }).key
}

/** The view of a service in a running gateway. */
export function viewOf<N extends keyof Services>({ live }: Gateway, name: N): Services[N] {
  return live.current.views.of([name])[name] as Services[N]
}

/**
 * Asks a gateway, with a bearer token if there is one. Throws for an answer that its action does not declare.
 * @param engine also throws for a written record without a row in its audit trail
 */
export function askAt(url: string, token?: string, engine?: Gateway): Ask {
  return async (route, body, headers = {}) => {
    const [method = '', path = ''] = route.split(' ')
    const requireRow = engine && (await auditing(engine, method, path))
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = (text === '' ? {} : JSON.parse(text)) as JsonObject
    await requireDeclared(method, path, response.status, text === '' ? undefined : answer)
    if (response.ok) await requireRow?.(response.headers.get('x-request-id') ?? '', { sent: body, answer, token })
    const { error } = answer as { readonly error?: { readonly code: unknown; readonly param: unknown } }
    const { status, headers: given } = response
    return { status, headers: given, body: answer, ...(error && { code: error.code, param: error.param }) }
  }
}

let added = 0

async function addMember({ engine, url }: RunningGateway, member: Partial<MembersTable>): Promise<SignedIn> {
  const { store } = viewOf(engine, 'members')
  added += 1
  const row: MembersTable = {
    id: randomUUIDv7(),
    username: `member-${added}`,
    role: 'viewer',
    disabled: 0,
    must_change_password: 0,
    models: null,
    budget: null,
    rate_limit: null,
    tracing: 0,
    // Of `password`, made once: hashing it for every member would take most of the time of many tests.
    password: '$argon2id$v=19$m=19456,t=2,p=1$oGL44LSPeBXgHdlaiDP+Uw$isRt4R+dOZ2J8jt6fA1rTJfYsVXsx9KY2J10rfFwag4',
    session_version: 1,
    version: 1,
    created_at: Date.now(),
    last_login_at: null,
    ...member,
  }
  await store.change(async (transaction) => {
    await transaction.insertInto('members').values(row).execute()
  })
  const { id, username, session_version: sessionVersion } = row
  const { token } = viewOf(engine, 'member_sessions').issue({ id, sessionVersion })
  return { id, username, token, ask: askAt(url, token, engine) }
}
