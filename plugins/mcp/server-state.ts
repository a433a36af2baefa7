import { asGatewayError, isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'
import { ownMembers } from './message.ts'
import { statelessVersion } from './versions.ts'

/** What a process knows of its connection to a server. */
export interface Known {
  readonly state: 'connecting' | 'connected' | 'failed'
  /** Protocol version of the newest session. */
  readonly version?: string
  readonly server?: { readonly name: string | null; readonly version: string | null }
  /** Since when it is in this state (Unix time in milliseconds). */
  readonly since: number
  /** How long the server took to open the newest session, in milliseconds. */
  readonly latency?: number
  readonly error?: { readonly code: string; readonly message: string }
}

/** How the last attempts to open a session with a server went, of clients and of admins. */
export class ServerState {
  #known: Known = { state: 'connecting', since: Date.now() }
  #versions: readonly string[] | undefined

  get known(): Known {
    return this.#known
  }

  /** The protocol versions that the server has said it speaks; undefined: it has not. */
  get versions(): readonly string[] | undefined {
    return this.#versions
  }

  /**
   * A session was opened, or a server without sessions has said who it is.
   * @param result the result of `initialize`, or of `server/discover` (revision 2026-07-28)
   */
  opened(result: Json | undefined, latency: number): void {
    const { protocolVersion, supportedVersions, _meta: meta, ...said } = isObject(result) ? result : {}
    const version = supportedVersions === undefined ? protocolVersion : statelessVersion
    if (Array.isArray(supportedVersions)) this.#versions = supportedVersions.filter((one) => typeof one === 'string')
    const info = said['serverInfo'] ?? (isObject(meta) ? meta[`${ownMembers}serverInfo`] : undefined)
    this.#known = {
      state: 'connected',
      since: this.#known.state === 'connected' ? this.#known.since : Date.now(),
      latency,
      ...(typeof version === 'string' ? { version } : {}),
      ...(isObject(info) ? { server: { name: textIn(info, 'name'), version: textIn(info, 'version') } } : {}),
    }
  }

  /** A session could not be opened, or the server is gone. */
  failed(error: unknown): void {
    const { failure, code } = asGatewayError(error)
    this.#known = {
      state: 'failed',
      since: this.#known.state === 'failed' ? this.#known.since : Date.now(),
      error: { code, message: failure.message },
    }
  }
}

function textIn(value: JsonObject, name: string): string | null {
  const { [name]: text } = value
  return typeof text === 'string' ? text : null
}
