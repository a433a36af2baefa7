import { printDiagnostic, printPath } from '../config/diagnostics.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import { storedName } from './stored-records.ts'
import { isVirtual } from '../spec/catalog.ts'
import { GatewayError } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
import type { RecordChange } from '../spec/record-access.ts'
import { bodyOf, nameOf } from './record-change.ts'

/** Maximum findings in one error. */
const mostFindings = 50

/** The error for a change whose configuration has findings. */
export function refusalOf(change: RecordChange, findings: readonly Diagnostic[]): GatewayError {
  const { type } = change
  const name = nameOf(change)
  const body = bodyOf(change)
  const users = change.kind === 'delete' ? usersIn(findings, change) : []
  if (users.length > 0) {
    const reason = `${users.join(', ')} ${users.length > 1 ? 'need' : 'needs'} it`
    return new GatewayError('in_use', { type, name, reason })
  }
  const own = storedName({ type, name })
  const fields = Object.keys(body)
  const placed = findings.map((one) => (one.file === own ? { ...one, path: pathIn(body, one.path ?? []) } : one))
  // What is wrong with the record itself comes first: the rest may follow from it.
  const rank = (one: Diagnostic) => (one.file === own ? rankOf(one, fields) : fields.length + 1)
  const sorted = placed.toSorted((left, right) => rank(left) - rank(right))
  const errors = sorted.slice(0, mostFindings).map((finding) => {
    const { file, path = [], code, message } = finding
    const isOwn = file === own
    const param = isOwn && path.length > 0 ? printPath(path) : null
    return isOwn
      ? { param, code: codeOf(code, valueAt(body, path)), message }
      : { param, code, message: printDiagnostic(finding) }
  })
  const [first] = errors
  const param = first?.param ?? undefined
  const at = param === undefined ? {} : { param }
  // The message about a missing field names it.
  const isNamed = param === undefined || first?.code === 'missing_field'
  const reason = isNamed ? (first?.message ?? '') : `${param}: ${first?.message}`
  const isOwn = findings.every(({ file }) => file === own)
  const isTaken = findings.every(({ code }) => code === 'duplicate') && first?.code !== 'reserved_name'
  if (isOwn && isTaken) return new GatewayError('name_taken', { reason }, at)
  const code = sorted[0]?.file === own ? { code: first?.code ?? '' } : {}
  return new GatewayError('invalid_configuration', { reason }, { ...at, errors, ...code })
}

/** Records that need a record to be deleted: they name it, or a finding about them does. */
function usersIn(
  findings: readonly Diagnostic[],
  { type, name }: RecordChange & { readonly kind: 'delete' },
): string[] {
  const missing = findings.filter(
    ({ code, message }) => code === `unknown-${type}` || message.includes(`${type} "${name}"`),
  )
  return [...new Set(missing.map(({ file }) => file))]
}

/** The path of a finding in the body, which may have fields of the type beside `config`. */
function pathIn(body: JsonObject, path: Path): Path {
  const [first, second] = path
  return first === 'config' && typeof second === 'string' && Object.hasOwn(body, second) ? path.slice(1) : path
}

/** Position of a finding in a body; missing fields come after present ones. */
function rankOf({ path: [field] = [] }: Diagnostic, fields: readonly string[]): number {
  const at = fields.indexOf(String(field))
  return at < 0 ? fields.length : at
}

function valueAt(body: JsonObject, path: Path): unknown {
  return path.reduce<unknown>((inside, step) => (inside as Record<string, unknown> | undefined)?.[step], body)
}

/** The client's code for a finding about a value of a record. */
function codeOf(code: string, value: unknown): string {
  if (code === 'additionalProperties') return 'unknown_field'
  if (code === 'required') return 'missing_field'
  const isOfVirtual = code === 'duplicate' && typeof value === 'string' && isVirtual(value)
  if (code === 'reserved' || isOfVirtual) return 'reserved_name'
  return code === 'reference' || code.startsWith('unknown-') ? 'invalid_reference' : 'invalid_field'
}
