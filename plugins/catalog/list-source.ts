import { readFile } from 'node:fs/promises'
import { GatewayError } from '../../engine/index.ts'
import type { Host, Json, Scope } from '../../engine/index.ts'
import { answerHold, collect, isPublicHost, openHttp, parsedJson } from '../../engine/kit.ts'

/** Maximum bytes of a list, and milliseconds for reading it from an address. */
export const listLimit = 20 * 1024 * 1024
const deadline = 10_000

/** A list as it was read, and where it is from. */
export interface ReadList {
  readonly source: string
  /** Undefined: it is not JSON. */
  readonly value: Json | undefined
}

/** Reads a list from an address: over https, from public addresses only. Redirects are not followed. */
export async function readAddress(text: string, param: string, host: Host, scope: Scope): Promise<ReadList> {
  const url = URL.parse(text)
  const refuse = (reason: string) => new GatewayError('invalid_field', { param, reason }, { param })
  if (url?.protocol !== 'https:') throw refuse('must be an address that starts with https://')
  if (url.username !== '' || url.password !== '') throw refuse('must be an address without user and password')
  if (!(await isPublicHost(url))) {
    const message = `${param} is a private address; lists are read from public ones only.`
    throw new GatewayError('private_address', { param }, { param, message })
  }
  return fetchList(url, { ...host, publicOnly: { note: () => undefined } }, scope)
}

/** Fetches a list over HTTP, within the limits of the host. */
export async function fetchList(url: URL, host: Host, scope: Pick<Scope, 'onAbort'>): Promise<ReadList> {
  const http = openHttp({}, host)
  const target = http.target(url, ['user-agent', `sluice/${host.version}`, 'accept', 'application/json'])
  const timeouts = { connect: deadline, firstByte: deadline, idle: deadline, total: deadline }
  const answer = await http.ask(target, 'GET', { model: 'the list of prices', timeouts, scope })
  const hold = answerHold(host)
  try {
    const bytes = await collect(answer.body, listLimit, hold)
    if (answer.status !== 200) {
      const reason = `it answered with status ${answer.status}.`
      throw new GatewayError('upstream_error', { model: 'the list of prices', reason })
    }
    return { source: url.href, value: parsedJson(bytes.toString()) }
  } finally {
    hold.release()
  }
}

/** Reads the list that the configuration file names. */
export async function readConfigured(source: string, host: Host, scope: Scope): Promise<ReadList> {
  if (URL.canParse(source)) return readAddress(source, 'catalog.source', host, scope)
  try {
    return { source: 'catalog.source', value: parsedJson(await readFile(source, 'utf8')) }
  } catch (cause) {
    const message = 'The file that the configuration names in catalog.source cannot be read.'
    throw new GatewayError('invalid_field', { param: 'catalog.source' }, { param: 'catalog.source', message, cause })
  }
}
