import { printDiagnostic, printPath } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { storedName } from '../config/stored-records.ts'
import { GatewayError } from '../spec/error.ts'
import type { RecordChange } from '../spec/record-access.ts'
import { bodyOf, nameOf } from './record-change.ts'

/** Maximum findings in one error. */
const mostFindings = 50

/** The error for a change whose configuration has findings. */
export function refusalOf(change: RecordChange, findings: readonly Diagnostic[]): GatewayError {
  const { type } = change
  const name = nameOf(change)
  const users = change.kind === 'delete' ? usersIn(findings, change) : []
  if (users.length > 0) {
    const reason = `${users.join(', ')} ${users.length > 1 ? 'need' : 'needs'} it`
    return new GatewayError('in_use', { type, name, reason })
  }
  const own = storedName({ type, name })
  const fields = Object.keys(bodyOf(change))
  const sorted = findings.toSorted((left, right) => rankOf(left, fields) - rankOf(right, fields))
  const errors = sorted.slice(0, mostFindings).map((finding) => {
    const { file, path = [], code, message } = finding
    const isOwn = file === own
    const param = isOwn && path.length > 0 ? printPath(path) : null
    return isOwn ? { param, code: codeOf(code), message } : { param, code, message: printDiagnostic(finding) }
  })
  const [first] = errors
  const param = first?.param ?? undefined
  const options = { ...(param === undefined ? {} : { param }), errors }
  const reason = param === undefined ? (first?.message ?? '') : `${param}: ${first?.message}`
  const isOwn = findings.every(({ file }) => file === own)
  if (isOwn && findings.every(({ code }) => code === 'duplicate'))
    return new GatewayError('name_taken', { reason }, options)
  return new GatewayError(
    'invalid_configuration',
    { reason },
    { ...options, ...(isOwn && first && { code: first.code }) },
  )
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

/** Position of a finding in a body; missing fields come after present ones. */
function rankOf({ path: [field] = [] }: Diagnostic, fields: readonly string[]): number {
  const at = fields.indexOf(String(field))
  return at < 0 ? fields.length : at
}

/** The client's code for a finding about a record. */
function codeOf(code: string): string {
  if (code === 'additionalProperties') return 'unknown_field'
  if (code === 'required') return 'missing_field'
  if (code === 'reserved') return 'reserved_name'
  return code.startsWith('unknown-') ? 'invalid_reference' : 'invalid_field'
}
