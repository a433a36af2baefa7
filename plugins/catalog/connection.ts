import type { AllRecords, JsonObject, Records, RecordReport } from '../../engine/index.ts'
import { checkTimeouts, isObject, isPublicName } from '../../engine/kit.ts'

/** Headers in which providers expect keys. */
const credentialHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']

/** Texts that stand for a key in examples. */
const placeholder =
  /^(<.{0,64}>|\[.{0,64}\]|(sk-)?(\.{3}|…|x{3,64}|\*{3,64})|change-?me|todo|(your|my|insert)[-_]\w{0,32}[-_ ]?(key|token)([-_]here)?)$/i

/** Warns of settings of a connection that its type accepts, and that nobody means. */
export function checkConnection(provider: Records['provider'], all: AllRecords, report: RecordReport): void {
  const {
    api_key: key,
    api_keys: keys,
    headers,
    timeouts,
    base_url: url,
    endpoint_base_urls: moved,
  } = provider as JsonObject
  const warn = (path: (string | number)[], code: string, message: string) => report(path, code, message, 'warning')
  for (const [path, text] of [[['api_key'], key] as const, ...entriesOf(keys)])
    if (typeof text === 'string' && (placeholder.test(text) || /^('.*'|".*")$/.test(text)))
      warn([...path], 'credential', 'stands for a key, or has quotes of its own; write the key itself, or ${NAME}')
  const hasKey = isGiven(key) || (Array.isArray(keys) && keys.length > 0)
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {})) {
    if (hasKey && credentialHeaders.includes(name.toLowerCase()))
      warn(['headers', name], 'credential', `"${name}" carries a credential beside the key; write one of the two`)
    if (value === '') warn(['headers', name], 'header', 'is sent without a value')
  }
  const address = typeof url === 'string' ? URL.parse(url) : null
  if (hasKey && address?.protocol === 'http:' && isPublicName(address.hostname))
    warn(['base_url'], 'plain-http', 'the key travels unencrypted; did you mean https://?')
  if (isObject(timeouts)) checkTimeouts(timeouts, (path, code, message) => warn(['timeouts', ...path], code, message))
  if (isObject(moved)) checkMoved(provider.name, moved, all, warn)
}

function entriesOf(keys: unknown): readonly (readonly [readonly (string | number)[], unknown])[] {
  return Array.isArray(keys) ? keys.map((key: unknown, at) => [['api_keys', at], key] as const) : []
}

function isGiven(text: unknown): boolean {
  return typeof text === 'string' && text !== ''
}

/** Finds addresses of operations that the provider does not offer. */
function checkMoved(
  name: string,
  moved: JsonObject,
  all: AllRecords,
  warn: (path: string[], code: string, message: string) => void,
): void {
  const offers = all.offers(name, true)
  if (offers === undefined) return
  const keys = new Set(
    offers.flatMap(({ protocol }) => (protocol === undefined ? [] : [all.codec(protocol)?.address?.key ?? protocol])),
  )
  for (const field of Object.keys(moved))
    if (!keys.has(field)) warn(['endpoint_base_urls', field], 'not-offered', `the provider does not offer ${field}`)
}
