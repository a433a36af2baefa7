import { GatewayError } from '../../engine/index.ts'
import type { Ingress, JsonObject, Principal, Services } from '../../engine/index.ts'
import { bearerToken, shape, timeText } from '../../engine/kit.ts'
import { fieldsIn } from './member-body.ts'
import { accountFields, shownRate } from './member-reply.ts'
import type { MemberRow } from './member-changes.ts'

/** The services that know the account of whoever asks. */
export type AccountFacts = Pick<Services, 'member_sessions' | 'key_policy'>

/** JSON Schema of the account of whoever asks. */
export const accountShape = shape.object({
  ...accountFields,
  session: shape.object(
    {
      expires_at: shape.time('When its token ends.'),
      ends_at: shape.time('When it ends, however often it is renewed.'),
    },
    {},
    'His session.',
  ),
  may: shape.object({ make_keys: shape.flag('Whether he may make API keys.') }, {}, 'What he may do.'),
})

/** The account of whoever asks, for himself. */
export async function shownAccount(
  row: MemberRow,
  { headers }: Ingress,
  { member_sessions: sessions, key_policy: policy }: AccountFacts,
): Promise<JsonObject> {
  const session = await sessions.find(bearerToken(headers) ?? '')
  // It was valid when `auth` looked.
  if (session === undefined) throw new GatewayError('invalid_token', { authenticate: 'Bearer' })
  const { models = null, rate_limit: limit } = fieldsIn(row)
  return {
    id: row.id,
    username: row.username,
    role: row.role,
    must_change_password: row.must_change_password !== 0,
    models,
    rate_limit: shownRate(limit),
    tracing: row.tracing !== 0,
    last_login_at: row.last_login_at === null ? null : timeText(row.last_login_at),
    session: { expires_at: timeText(session.expiresAt), ends_at: timeText(session.endsAt) },
    may: { make_keys: policy.self_service_keys },
  }
}

/** The row of whoever asks. Rejects with `invalid_token` if the member has been deleted meanwhile. */
export async function ownRow(team: Services['team'], { id }: Principal): Promise<MemberRow> {
  try {
    return await team.get(id)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'not_found')
      throw new GatewayError('invalid_token', { authenticate: 'Bearer' })
    throw error
  }
}
