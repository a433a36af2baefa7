import type { Json } from '../../engine/index.ts'
import { escaped, freeName } from './draft.ts'
import type { Draft } from './draft.ts'
import { readHeaders } from './headers.ts'
import type { Report } from './report.ts'
import { isSecretAddress } from './secrets.ts'
import { at, flagOf, isEmpty, itemsOf, membersOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** What is said of guards that cannot be taken over. */
export const noGuard = 'write a guard: docs/guards.md has the kinds, and the contract of a service of your own'

/** Services that a webhook may ask, by the word for them, with the parameter that has their address. */
const services: Readonly<
  Record<string, { readonly address: string; readonly contract: string; readonly advice: string }>
> = {
  generic_guardrail_api: {
    address: 'api_base',
    contract: 'litellm',
    advice: 'it is off: try it (POST /api/guards/test), then set enabled: true',
  },
  presidio: {
    address: 'presidio_analyzer_api_base',
    contract: 'sluice',
    advice:
      'it is off: Presidio does not speak the contract of webhooks; take the recipe docs/recipes/guards/presidio.yaml, or a guard of kind pii, which needs no service',
  },
}

/** Which sides are judged, by the modes of LiteLLM. */
const sides: Readonly<Record<string, string>> = { pre_call: 'input', during_call: 'input', post_call: 'output' }

/** Reads `guardrails`. A guard becomes one that is off until somebody has tried it. */
export function readGuards(section: Node | undefined, draft: Draft, report: Report): void {
  for (const entry of itemsOf(section)) {
    const parameters = at(entry, 'litellm_params')
    const kind = textOf(at(parameters, 'guardrail')) ?? ''
    const service = Object.hasOwn(services, kind) ? services[kind] : undefined
    const address = at(parameters, service?.address ?? 'api_base')
    if (service === undefined || address === undefined || !isAddress(address) || draft.isVariable(address))
      report.lost(
        entry,
        service === undefined ? noGuard : `the address of its service must stand in the file; ${noGuard}`,
        'limit',
      )
    else readGuard(entry, parameters, { ...service, address }, draft, report)
  }
}

function isAddress(node: Node): boolean {
  return ['http:', 'https:'].includes(URL.parse(textOf(node) ?? '')?.protocol ?? '')
}

function readGuard(
  entry: Node,
  parameters: Node | undefined,
  { address, contract, advice }: { readonly address: Node; readonly contract: string; readonly advice: string },
  draft: Draft,
  report: Report,
): void {
  const given = textOf(at(entry, 'guardrail_name')) ?? 'guard'
  const bare = given
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^(?![a-zA-Z])/, 'guard-')
    .slice(0, 60)
  const name = freeName(bare, new Set(draft.guards.map((guard) => guard['name'] as string)))
  const record: Record<string, Json> = { name, kind: 'webhook', enabled: false }
  const headers: Record<string, Json> = {}
  const place = (field: string) => `guards[].${field}`
  // A guard is never off for want of a variable, so that each has a default.
  const secret = (node: Node, field: string) => draft.secret(node, `${name}_${field}`).replace(/\}$/, ':-}')
  for (const [key, node] of [...membersOf(entry), ...membersOf(parameters)]) {
    if (key === 'litellm_params') continue
    if (isEmpty(node)) report.default(node, 'says nothing')
    else if (key === 'guardrail_name' && name !== given) report.changed(node, `it is called "${name}"`, place('name'))
    else if (key === 'guardrail_name') report.mapped(node, place('name'))
    else if (key === 'guardrail') report.changed(node, advice, place('kind'), 'limit')
    else if (node === address) {
      const given = textOf(node) ?? ''
      record['url'] = isSecretAddress(given)
        ? secret(node, 'url').replace(/\}$/, () => `${URL.parse(given)?.origin ?? 'http://127.0.0.1'}/}`)
        : escaped(given)
      report.mapped(node, place('url'))
    } else if (key === 'mode') readModes(node, record, report)
    else if (key === 'default_on') report.mapped(node, place('default'))
    else if (key === 'api_key' && contract === 'litellm') {
      headers['x-api-key'] = secret(node, 'api_key')
      report.mapped(node, place('headers'))
    } else if (key === 'headers' && node.kind === 'map' && contract === 'litellm')
      Object.assign(headers, readHeaders(node, { draft, report, to: place('headers'), value: secret }))
    else if (key === 'unreachable_fallback') {
      record['on_error'] = textOf(node) === 'fail_open' ? 'open' : 'closed'
      report.mapped(node, place('on_error'))
    } else report.lost(node, 'the service must know it; params gives it further parameters', 'limit')
  }
  // Only where it is named, unless it judged everything before.
  record['default'] = flagOf(at(parameters, 'default_on')) === true
  record['contract'] = contract
  if (contract === 'sluice') record['action'] = 'mask'
  if (Object.keys(headers).length > 0) record['headers'] = headers
  draft.guards.push(record)
}

function readModes(node: Node, record: Record<string, Json>, report: Report): void {
  const words = itemsOf(node).flatMap((one) => textOf(one) ?? [])
  const side = [...new Set(words.flatMap((word) => (Object.hasOwn(sides, word) ? (sides[word] ?? []) : [])))]
  if (words.includes('logging_only')) record['shadow'] = true
  if (side.length > 0) record['side'] = side
  if (words.every((word) => Object.hasOwn(sides, word) || word === 'logging_only')) report.mapped(node, 'guards[].side')
  else report.lost(node, 'of its modes, those before and after the call are kept', 'limit')
}
