import type { AddressInfo } from 'node:net'
import type { Greeting, Said } from '../spec/service.ts'
import type { Snapshot } from '../live/snapshot.ts'
import type { Terminal } from './terminal.ts'
import { wrap } from './text.ts'

/** Prints the greetings of services that come before the address. */
export function greet(greetings: readonly Greeting[], json: boolean, terminal: Terminal): void {
  for (const { now } of greetings) say(now, json, terminal)
}

/** The running gateway, and the greetings of services. */
export interface Introduced {
  readonly address: AddressInfo
  readonly snapshot: Pick<Snapshot, 'settings' | 'catalog' | 'without' | 'off'>
  readonly greetings: readonly Greeting[]
}

/** Prints the address and the models of the gateway, and the greetings of services. */
export function introduce(
  { address: { address, port }, snapshot, greetings }: Introduced,
  json: boolean,
  terminal: Terminal,
): void {
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  say({ text: `Sluice serves on ${url}`, json: { url } }, json, terminal)
  if (!json && snapshot.without !== undefined) terminal.out(unconfigured(snapshot, snapshot.without))
  for (const greeting of greetings) say(greeting.served?.({ url, catalog: snapshot.catalog }), json, terminal)
}

function say(said: Said | undefined, asJson: boolean, terminal: Terminal): void {
  if (said === undefined) return
  if (!asJson) terminal.out(said.text)
  else if (said.json !== undefined) terminal.out(JSON.stringify(said.json))
}

/** Where the configuration file is expected, and what is served without it. */
function unconfigured({ settings, catalog, off }: Introduced['snapshot'], file: string): string {
  const on = settings.providers.filter((provider) => provider.off === undefined).map(({ name }) => name)
  const models = catalog.models.filter(({ provider }) => on.includes(provider)).map(({ name }) => name)
  const told = [
    `There is no ${file} yet; "sluice init" writes one. Models until then: ${models.join(', ')}.`,
    ...off.map((line) => `${line}.`),
  ]
  return told.map((line) => wrap(line, '')).join('\n')
}
