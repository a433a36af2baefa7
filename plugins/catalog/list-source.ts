import { readFile } from 'node:fs/promises'
import { GatewayError } from '../../engine/index.ts'
import type { Host, Json, Scope } from '../../engine/index.ts'
import { parsedJson, readPublic } from '../../engine/kit.ts'

/** Maximum bytes of a list, and milliseconds for reading it from an address. */
export const listLimit = 20 * 1024 * 1024
const deadline = 10_000

/** A list as it was read, and where it is from. */
export interface ReadList {
  readonly source: string
  /** Undefined: it is not JSON. */
  readonly value: Json | undefined
}

/** Reads a list from an address. */
export async function readAddress(text: string, param: string, host: Host, scope: Scope): Promise<ReadList> {
  const bytes = await readPublic(text, { param, what: 'the list of prices', limit: listLimit, deadline }, host, scope)
  return { source: new URL(text).href, value: parsedJson(bytes.toString()) }
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
