import type { AddressInfo } from 'node:net'
import type { Line, SafeGreeting } from '../services/greetings.ts'
import type { Snapshot } from '../live/snapshot.ts'
import type { Terminal } from './terminal.ts'
import { wrap } from '../kit/text.ts'

/** Prints the greetings of services that come before the address. */
export function greet(greetings: readonly SafeGreeting[], json: boolean, terminal: Terminal): void {
  for (const { now } of greetings) say(now, json, terminal)
}

/** The running gateway, and the greetings of services. */
export interface Introduced {
  readonly address: AddressInfo
  readonly snapshot: Pick<Snapshot, 'settings' | 'catalog' | 'without'>
  readonly greetings: readonly SafeGreeting[]
}

/** Prints the address and the models of the gateway, and then the greetings of services. Never rejects. */
export async function introduce(
  { address, snapshot, greetings }: Introduced,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const url = urlOf(address)
  say({ text: `Sluice serves on ${url}`, json: JSON.stringify({ url }) }, json, terminal)
  if (!json && snapshot.without !== undefined) terminal.out(unconfigured(snapshot, snapshot.without))
  const reached = snapshot.settings.listen.url?.replace(/\/$/, '') ?? url
  const served = greetings.map((greeting) => greeting.served({ url: reached, catalog: snapshot.catalog }))
  for (const line of served) say(await line, json, terminal)
}

/**
 * One sentence about a gateway that serves.
 * @param refused why a newer configuration is refused; undefined: none is
 */
export function serving(address: AddressInfo, what: string, refused: string | undefined): string {
  const newer = refused === undefined ? '' : `; a newer configuration is refused: ${refused}`
  return `Serves on ${urlOf(address)} with ${what}${newer}`
}

function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

function say(line: Line | undefined, asJson: boolean, terminal: Terminal): void {
  const text = asJson ? line?.json : line?.text
  if (text !== undefined) terminal.out(text)
}

/** Where the configuration file is expected, and what is served without it. */
function unconfigured({ settings, catalog }: Introduced['snapshot'], file: string): string {
  const off = settings.providers.filter((provider) => provider.off !== undefined)
  const on = settings.providers.filter((provider) => provider.off === undefined).map(({ name }) => name)
  const models = catalog.models.filter(({ provider }) => on.includes(provider)).map(({ name }) => name)
  const told = [
    `There is no ${file} yet; "sluice init" writes one. Models until then: ${models.join(', ')}.`,
    ...(off.length === 0
      ? []
      : [`${off.length} providers are off until their variables are set; "sluice check" names them.`]),
  ]
  return told.map((line) => wrap(line, '')).join('\n')
}
