import type { AddressInfo } from 'node:net'
import { isPattern } from '../spec/model-pattern.ts'
import type { Snapshot } from '../live/snapshot.ts'
import type { Terminal } from './terminal.ts'
import { wrap } from './text.ts'

/** Says which key was made, the one time that anybody can. */
export function showFirstKey(key: string, json: boolean, terminal: Terminal): void {
  terminal.out(json ? JSON.stringify({ key }) : `An API key was made for you. It is shown this once:\n\n  ${key}\n`)
}

/** What serves, and the key that was made for it, if one was. */
export interface Introduced {
  readonly address: AddressInfo
  readonly snapshot: Pick<Snapshot, 'settings' | 'catalog' | 'without' | 'off'>
  readonly key: string | undefined
}

/** Says where it serves, by what, and, the first time, how to try it. */
export function introduce(
  { address: { address, port }, snapshot, key }: Introduced,
  json: boolean,
  terminal: Terminal,
): void {
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`
  terminal.out(json ? JSON.stringify({ url }) : `Sluice serves on ${url}`)
  if (json) return
  if (snapshot.without !== undefined) terminal.out(unconfigured(snapshot, snapshot.without))
  if (key === undefined) return
  terminal.out(`
Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${modelToTry(snapshot) ?? 'a-model'}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`)
}

/** Where the configuration would be, and what is there without it. */
function unconfigured({ settings, catalog, off }: Introduced['snapshot'], file: string): string {
  const on = settings.providers.filter((provider) => provider.off === undefined).map(({ name }) => name)
  const models = catalog.models.filter(({ provider }) => on.includes(provider)).map(({ name }) => name)
  const told = [
    `There is no ${file} yet; "sluice init" writes one. Models until then: ${models.join(', ')}.`,
    ...off.map((line) => `${line}.`),
  ]
  return told.map((line) => wrap(line, '')).join('\n')
}

function modelToTry({ catalog }: Introduced['snapshot']): string | undefined {
  const found = catalog.models.find(
    ({ name, provider }) => !isPattern(name) && catalog.provider(provider)?.off === undefined,
  )
  return found?.name
}
