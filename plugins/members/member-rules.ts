import { isDeepStrictEqual } from 'node:util'
import { GatewayError } from '../../engine/index.ts'
import type { Mistake, ModelRecord, Requester, Services, TableQueries } from '../../engine/index.ts'
import { fitting, isVirtual } from '../../engine/kit.ts'
import type { MemberFields } from './member-body.ts'

const fields = [
  'username',
  'role',
  'disabled',
  'models',
  'budget',
  'rate_limit',
] as const satisfies (keyof MemberFields)[]

/** The fields that differ. */
export function differing(before: MemberFields, after: MemberFields): ReadonlySet<keyof MemberFields> {
  return new Set(fields.filter((field) => !isDeepStrictEqual(before[field] ?? null, after[field] ?? null)))
}

/** Rejects with `own_account`: nobody changes his own rights, nor his name without his password. */
export function refuseOwn(differs: ReadonlySet<keyof MemberFields>): void {
  const field = fields.find((one) => differs.has(one))
  if (field !== undefined) throw new GatewayError('own_account', { param: field })
}

/** The result of a change. That somebody tried to change his own account is noted in the audit trail. */
export function noteOwn<T>(
  changing: Promise<T>,
  audit: Services['audit'],
  { by, action }: { readonly by: Requester; readonly action: string },
): Promise<T> {
  return changing.catch(async (error: unknown) => {
    if (error instanceof GatewayError && error.code === 'own_account')
      await audit.refused({ by, action, code: error.code })
    throw error
  })
}

/** Rejects with `name_taken`. */
export async function refuseTaken(transaction: TableQueries, username: string): Promise<void> {
  const taken = await transaction.selectFrom('members').select('id').where('username', '=', username).executeTakeFirst()
  if (taken) throw new GatewayError('name_taken', { reason: `There is a member "${username}" already.` })
}

/** Rejects with `last_admin` unless another admin can sign in. */
export async function refuseLast(transaction: TableQueries, id: string): Promise<void> {
  const other = await transaction
    .selectFrom('members')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled', '=', 0)
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst()
  if (other === undefined) throw new GatewayError('last_admin')
}

/** The name of a model's record by each of its names and aliases. */
export type ModelNames = ReadonlyMap<string, string>

export function modelNames(models: readonly ModelRecord[]): ModelNames {
  return new Map(models.flatMap(({ name, aliases }) => [...aliases, name].map((one) => [one, name] as const)))
}

/** Fields with models by the names of their records. Throws `invalid_reference` with every model that does not exist. */
export function withKnownModels(given: MemberFields, names: ModelNames): MemberFields {
  const { models } = given
  if (!models) return given
  const known = models.map((model) => {
    if (isVirtual(model)) return model.toLowerCase()
    return names.get(model) ?? (fitting(model, names.keys()) ? model : undefined)
  })
  const errors = known.flatMap((model, index): Mistake[] => {
    const param = `models[${index}]`
    return model === undefined ? [{ param, code: 'invalid_reference', message: `${param} is not a model.` }] : []
  })
  const [first] = errors
  if (first)
    throw new GatewayError('invalid_reference', { param: first.param ?? '', reason: 'is not a model' }, { errors })
  return { ...given, models: [...new Set(known as string[])] }
}
